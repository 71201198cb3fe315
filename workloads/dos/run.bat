@echo off
b:
int21
hooked
dpmi16
dpmi32
memread
exec
create
cached
small
bitblt
done
