# SPDX-License-Identifier: BSL-1.0
#
# talk.sh KIND: runs the server that a way has built on libraries of this kind, `shared` or `static`. It sends
# back a line, and ends with 0 when it is asked to.
server=/door/program/server
if [[ $1 == shared ]]; then drawn=yes; else drawn=no; fi
if [[ $(ldd "$server") == *libgyre.so* ]]; then draws=yes; else draws=no; fi
if [[ $draws != "$drawn" ]]; then
    echo "does the server draw libgyre.so? $draws; it should: $drawn"
    exit 1
fi

coproc serving { exec "$server"; }
pid=$serving_PID
read -r -t 20 line <&"${serving[0]}"
echo "it says: $line"
exec 3<>"/dev/tcp/127.0.0.1/${line##*:}"
echo 'hello, door' >&3
read -r -t 20 answer <&3
echo "it sends back: $answer"
[[ $answer == 'hello, door' ]]
exec 3>&-
kill -TERM "$pid"
wait "$pid"
