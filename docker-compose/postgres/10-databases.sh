#!/bin/sh
# A database and a role for each service; run once, by the image, when the data directory is new.
set -eu
for service in control auth registry; do
    psql --quiet --set ON_ERROR_STOP=1 --username postgres \
        --set role="$service" --set password="$(cat "/run/secrets/$service")" <<'SQL'
CREATE ROLE :"role" LOGIN PASSWORD :'password';
CREATE DATABASE :"role" OWNER :"role";
REVOKE ALL ON DATABASE :"role" FROM PUBLIC;
SQL
done
