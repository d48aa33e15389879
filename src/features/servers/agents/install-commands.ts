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

/** Commands that install and enroll the agent, ready to be pasted. */
export function installCommands(of: Installation): { curl: string; wget: string; cloud_init: string } {
  const script = quoted(`${of.baseUrl}/download/agent`)
  const options = [
    ...['--hub', quoted(of.baseUrl), '--key', of.key, '--hub-key', of.hubKey],
    ...(of.pin === null ? [] : ['--pin', of.pin]),
    ...(of.allow.length === 0 ? [] : ['--allow', quoted(of.allow.join(','))]),
  ].join(' ')
  // No certificate authority knows the certificate. The script verifies what it downloads with the key of the hub.
  const [curl, wget] = of.pin === null ? ['curl -fsSL', 'wget -qO-'] : ['curl -fsSLk', 'wget -qO- --no-check-certificate']
  return {
    curl: `${curl} ${script} | sudo sh -s -- ${options}`,
    wget: `${wget} ${script} | sudo sh -s -- ${options}`,
    cloud_init: `#cloud-config\nruncmd:\n  - [sh, -c, ${JSON.stringify(`${curl} ${script} | sh -s -- ${options}`)}]\n`,
  }
}

/** A word for a POSIX shell. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
