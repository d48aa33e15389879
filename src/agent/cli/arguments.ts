/** Where a command prints. */
export interface Print {
  out(text: string): void
  err(text: string): void
}

/** Options of the command line. */
export interface Flags {
  config?: string
  hub?: string
  key?: string
  'hub-key'?: string
  pin?: string
  allow?: string
  'without-tls'?: string
}

/** Arguments that no command has. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const help = `Usage: bailiwick-agent <command> [options]

Measures a server and reports to a Bailiwick hub. It connects to the hub; nothing connects to it.

Commands:
  run               Measure and report until stopped. The systemd service runs this
  status            Show whether the hub receives reports
  doctor            Check settings, files, the connection to the hub, and the clock
  send-once         Send one report and exit
  enrol             Register this server at a hub with an enrolment key
  install           Create the user, files, and systemd service of the agent, enroll, and start. Run as root
  uninstall         Stop the agent and delete everything but its log. Run as root
  root              Run the commands of the hub that need root. A systemd unit runs this
  units             Write the systemd units of this version. Run as root
  check-update      Restart an updated agent, and undo the update unless it reports. A systemd unit runs this
  certificates      Show the certificates that are reported, as JSON. Private keys are never reported
  read-certificates Read the files with certificates as root. A systemd unit runs this
  disks             Read the SMART data of the disks as root. A timer of systemd runs this

Options:
  --config FILE      Settings (default /etc/bailiwick-agent/agent.conf)
  -V, --version      Show the version
  -h, --help         Show this help

Options of enrol and install. They are written to the settings, except the key:
  --key KEY          Enrolment key from the hub (bw_enrol_…)
  --hub URL          Address of the hub
  --hub-key KEY      Public key of the hub (ed25519:…). Commands of others are refused
  --pin FINGERPRINT  SHA-256 fingerprint of the only certificate to accept from the hub
  --allow LIST       What the hub may ask for: update, reboot, firewall, wake, restart:UNIT

Exit codes: 0 success, 1 failure, 2 invalid arguments or settings, 78 the hub revoked the agent.

Examples:
  bailiwick-agent status
  bailiwick-agent enrol --hub https://hub.example.com --key bw_enrol_…
`
