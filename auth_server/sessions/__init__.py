"""Who a browser is: sign-in sessions, their devices, and how they end."""
