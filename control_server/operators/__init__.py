"""Who uses the portal: one-time links and portal sessions."""
