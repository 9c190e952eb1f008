#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
#
# nginx as a server that is judged: nginx.sh FOLDER PORT [CERTIFICATE KEY]
# It is a proxy before itself, since it reads whole requests only if they are for others.
set -eu
folder=$1 listen="127.0.0.1:$2" tls=
if [ $# -eq 4 ]; then
    listen="$listen ssl"
    tls="ssl_certificate $3; ssl_certificate_key $4; ssl_protocols TLSv1.2 TLSv1.3;
         ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20; ssl_prefer_server_ciphers off;
         ssl_session_cache shared:s:1m;"
fi
mkdir -p "$folder"
rm -f "$folder/behind"
cat >"$folder/nginx.conf" <<TEXT
daemon off; master_process off; pid $folder/nginx.pid; error_log $folder/error.log;
events { }
http {
    access_log off;
    client_body_temp_path $folder/body; proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/fastcgi; uwsgi_temp_path $folder/uwsgi; scgi_temp_path $folder/scgi;
    server {
        listen $listen;
        $tls
        location / { proxy_pass http://unix:$folder/behind; }
    }
    server {
        listen unix:$folder/behind;
        location / { return 200 "hello\n"; }
    }
}
TEXT
exec /usr/sbin/nginx -p "$folder" -c "$folder/nginx.conf"
