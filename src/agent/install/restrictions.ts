/** Restrictions of systemd for all services that run the program. Each service adds its own. */
export const restrictions = `NoNewPrivileges=yes
ProtectSystem=strict
PrivateTmp=yes
ProtectKernelModules=yes
RestrictNamespaces=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service`

/** Restrictions of services that run as root. */
export const rootRestrictions = `${restrictions}
ProtectKernelTunables=yes
ProtectControlGroups=yes`
