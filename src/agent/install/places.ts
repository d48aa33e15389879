/** User that the agent runs as. */
export const agentUser = 'bailiwick-agent'

/** Where the versions of the program are, and the link to the current one. */
export const programFolder = '/usr/local/lib/bailiwick-agent'
export const programLink = '/usr/local/bin/bailiwick-agent'

/** Log of what the hub asked for. It stays when the agent is uninstalled. */
export const logFolder = '/var/log/bailiwick-agent'

export const unitFolder = '/etc/systemd/system'
