"""What may be asked, for people who ask for help."""

from __future__ import annotations

#: Words that ask for it, where no object is called so.
ASKS = frozenset({"help", "?"})
MANUAL = b"""\
% One question a line, in any case; the connection is closed after the answer.
%
%   AS4242429901          an AS number, and the blocks that it lies in
%   172.20.0.1            an address or prefix: the nearest network and the nearest routes
%   172.20.0.0 - 172.20.0.255   the same as a range; 172.20.0.0/24AS4242429901 is one route
%   FOO-MNT               any other key, or a part of a person's name
%
% In front of a prefix or an address:
%   -x  exactly this one           -L  all that contain it     -l  the next that contains it
%   -M  all inside of it           -m  the next level inside
%
%   -T route,route6       these classes only
%   -i mnt-by FOO-MNT     objects that name it by this attribute; several with commas
%   -K AS-FOO             keys and members only
%   -t aut-num            attributes of a class; -v also how they are written
%   -s SOURCE             this registry only
%   -k                    keep the connection open
%   -q sources | version | types
%
% Filter generators speak IRRd's language, whose questions begin with !."""
