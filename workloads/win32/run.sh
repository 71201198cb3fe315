#!/bin/sh
# SPDX-License-Identifier: MIT
# Starts p5lab's programs for Win32 under Wine: those that the arguments name, or all. run.bat has
# their command lines. Only the files that these programs need are in a new directory of Wine; Wine
# itself would fill it for minutes of virtual time.
cd "$(dirname "$0")" || exit 1
export WINEPREFIX="${WINEPREFIX:-$HOME/.wine}" WINEDEBUG="${WINEDEBUG:--all}"
export P5LAB_DATA="${P5LAB_DATA:-.}"
wine=/usr/lib/wine
libraries=/usr/lib/i386-linux-gnu/wine/i386-windows
if [ ! -d "$WINEPREFIX" ]; then
  system="$WINEPREFIX/drive_c/windows/system32"
  mkdir -p "$WINEPREFIX/dosdevices" "$system"
  ln -s ../drive_c "$WINEPREFIX/dosdevices/c:"
  ln -s / "$WINEPREFIX/dosdevices/z:"
  for file in ntdll.dll kernelbase.dll kernel32.dll conhost.exe; do
    ln -s "$libraries/$file" "$system/$file"
  done
  echo disable > "$WINEPREFIX/.update-timestamp"
fi

"$wine/wineserver" -p || exit 1
status=0
while read -r name arguments; do
  case "$name" in
  @echo | if | done) continue ;;
  esac
  case " ${*:-$name} " in
  *" $name "*) ;;
  *) continue ;;
  esac
  # The words of the command line are divided here.
  "$wine/wine" "$name.exe" $arguments < /dev/null || {
    echo "$name: failed with status $?"
    status=1
    break
  }
done << LIST
$(tr -d '\r' < run.bat)
LIST
"$wine/wineserver" -k
exit $status
