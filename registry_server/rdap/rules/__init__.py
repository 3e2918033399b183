"""Pure decisions of RDAP: from objects to documents."""
