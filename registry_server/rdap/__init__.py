"""The registry in the words of RDAP (RFC 9082, RFC 9083), for clients that know no other."""
