/** What the commands that install an agent depend on. */
interface Installation {
  baseUrl: string
  /** Public key of the hub: downloads are verified with it, and commands later. */
  hubKey: string
  /** The enrolment key. */
  key: string
  /** Fingerprint of the only certificate of the hub that is accepted; null if certificate authorities decide. */
  pin: string | null
  allow: readonly string[]
}

/** A script that installs and enrolls the agent when a server starts for the first time, as root. */
export function installScript(of: Installation): string {
  const { curl, wget } = downloads(of)
  return `#!/bin/sh\nif command -v curl >/dev/null; then ${curl}; else ${wget}; fi | sh -s -- ${optionsOf(of)}\n`
}

/** Commands that install and enroll the agent, ready to be pasted. */
export function installCommands(of: Installation): { curl: string; wget: string; cloud_init: string } {
  const { curl, wget } = downloads(of)
  const options = optionsOf(of)
  return {
    curl: `${curl} | sudo sh -s -- ${options}`,
    wget: `${wget} | sudo sh -s -- ${options}`,
    cloud_init: `#cloud-config\nruncmd:\n  - [sh, -c, ${JSON.stringify(`${curl} | sh -s -- ${options}`)}]\n`,
  }
}

function downloads({ baseUrl, pin }: Installation): { curl: string; wget: string } {
  const script = quoted(`${baseUrl}/download/agent`)
  // No certificate authority knows a pinned certificate. The script verifies what it downloads with the key of the hub.
  return pin === null
    ? { curl: `curl -fsSL ${script}`, wget: `wget -qO- ${script}` }
    : { curl: `curl -fsSLk ${script}`, wget: `wget -qO- --no-check-certificate ${script}` }
}

const optionsOf = ({ baseUrl, key, hubKey, pin, allow }: Installation): string =>
  [
    ...['--hub', quoted(baseUrl), '--key', key, '--hub-key', hubKey],
    ...(pin === null ? [] : ['--pin', pin]),
    ...(allow.length === 0 ? [] : ['--allow', quoted(allow.join(','))]),
  ].join(' ')

/** A word for a POSIX shell. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
