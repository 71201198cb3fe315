@echo off
b:
int21
memread
exec
create
cached
small
done
