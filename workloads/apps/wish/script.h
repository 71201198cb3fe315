/* SPDX-License-Identifier: MIT */
/* The Tcl script that wish.c gives to wish: `wish8.6 SCRIPT WIDGET COUNT`. WIDGET is the path of
 * Tk's widget demonstration, and COUNT the number of demonstrations to invoke. The script is a text
 * of C, because the compiler's cache does not see a change of a file that is no header.
 */
#ifndef P5LAB_WISH_SCRIPT_H
#define P5LAB_WISH_SCRIPT_H

static const char script[] =
    "lassign $argv widget count\n"
    // Demonstrations without animations and without dialogs that wait for a person. The last one
    // stays on the screen.
    "set names {label button check radio puzzle icon text style plot floor states items}\n"
    // Ask wish.c for a marker, and wait until it is executed.
    "proc mark {what phase} {\n"
    "    puts stdout \"$what $phase\"\n"
    "    flush stdout\n"
    "    gets stdin\n"
    "}\n"
    // Tk's own `update` did not end within 180 virtual seconds on a Pentium of 90 MHz, although the
    // window was complete. `update` returns only when no event is left, and the event loop set a
    // new timer about once in a millisecond. The probable cause is the timer of a text widget that
    // waits for its redraw (tkTextDisp.c, AsyncUpdateLineMetrics). So this `update` takes a few
    // turns of the event loop. Each turn draws, serves the events and timers that are due, and asks
    // the X server a question. The answer comes after all requests before it. Text widgets compute
    // the heights of lines that nobody sees in later turns.
    "set turns 3\n"
    "rename update tk_update\n"
    "proc update {args} {\n"
    "    if {$args ne \"\"} {return [tk_update {*}$args]}\n"
    "    for {set turn 0} {$turn < $::turns} {incr turn} {\n"
    "        tk_update idletasks\n"
    "        after 0 {set ::turned 1}\n"
    "        vwait ::turned\n"
    "        winfo pointerxy .\n"
    "    }\n"
    "}\n"
    // Execute a script inside a bracket, until everything is drawn.
    "proc measured {phase script} {\n"
    "    mark begin $phase\n"
    "    uplevel #0 $script\n"
    "    update\n"
    "    mark end $phase\n"
    "}\n"
    // All buttons in a window. The buttons at its lower end belong to the frame of all
    // demonstrations, and are of another class.
    "proc buttons {window} {\n"
    "    set found {}\n"
    "    foreach child [winfo children $window] {\n"
    "        if {[winfo class $child] in {Button Checkbutton Radiobutton}} {lappend found $child}\n"
    "        lappend found {*}[buttons $child]\n"
    "    }\n"
    "    return $found\n"
    "}\n"
    "proc invoke_all {window} {\n"
    "    foreach button [buttons $window] {\n"
    "        $button invoke\n"
    "        update\n"
    "    }\n"
    "}\n"
    "for {set i 0} {$i < 10} {incr i} {\n"
    "    mark begin 4294967295\n"
    "    mark end 4294967295\n"
    "}\n"
    "set argv {}\n"
    "measured 1 [list source -encoding utf-8 $widget]\n"
    "wm geometry . +0+0\n"
    // The demonstrations ask for the place +300+300, which is beyond the middle of a small screen.
    "proc positionWindow {window} {wm geometry $window +250+20}\n"
    "set before {}\n"
    "foreach name [lrange $names 0 [expr {$count - 1}]] {\n"
    "    # A person would press Dismiss.\n"
    "    if {$before ne \"\"} {destroy $before}\n"
    "    measured 2 [list invoke [lindex [.t tag ranges demo-$name] 0]]\n"
    "    set before .$name\n"
    "    if {[buttons .$name] ne \"\"} {measured 3 [list invoke_all .$name]}\n"
    "}\n"
    "puts stdout done\n"
    "flush stdout\n"
    "vwait forever\n";

/* The fonts of wish: only outline fonts, and a cache in /tmp (fonts-conf(5)). */
static const char fonts[] =
    "<?xml version=\"1.0\"?>\n"
    "<!DOCTYPE fontconfig SYSTEM \"urn:fontconfig:fonts.dtd\">\n"
    "<fontconfig>\n"
    "  <dir>/usr/share/fonts/truetype</dir>\n"
    "  <cachedir>/tmp/fontconfig</cachedir>\n"
    "  <include ignore_missing=\"yes\">/etc/fonts/conf.d</include>\n"
    "</fontconfig>\n";

#endif
