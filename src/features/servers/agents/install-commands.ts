import { sha256Hex } from '../../../core/crypto'
import installer from './install-agent.sh' with { type: 'text' }

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

const installerDigest = sha256Hex(installer)

/** A script that installs and enrolls the agent when a server starts for the first time, as root. */
export function installScript(of: Installation): string {
  const { curl, wget } = installs(of, 'sh')
  return `#!/bin/sh\nif command -v curl >/dev/null; then ${curl}; else ${wget}; fi\n`
}

/** Commands that install and enroll the agent, ready to be pasted. */
export function installCommands(of: Installation): { curl: string; wget: string; cloud_init: string } {
  const asRoot = installs(of, 'sh').curl
  return {
    ...installs(of, 'sudo sh'),
    cloud_init: `#cloud-config\nruncmd:\n  - [sh, -c, ${JSON.stringify(asRoot)}]\n`,
  }
}

function installs(of: Installation, shell: string): { curl: string; wget: string } {
  const url = quoted(`${of.baseUrl}/download/agent`)
  const options = optionsOf(of)
  // Without a certificate that is verified, anyone on the network could replace the script, which verifies everything else.
  const isVerified = of.pin === null && of.baseUrl.startsWith('https:')
  const install = (download: string) =>
    isVerified
      ? `${download} ${url} | ${shell} -s -- ${options}`
      : `f=$(mktemp) && ${download} ${url} >"$f" && echo "${installerDigest}  $f" | sha256sum -c >/dev/null && ${shell} "$f" ${options}`
  return of.pin === null
    ? { curl: install('curl -fsSL'), wget: install('wget -qO-') }
    : { curl: install('curl -fsSLk'), wget: install('wget -qO- --no-check-certificate') }
}

const optionsOf = ({ baseUrl, key, hubKey, pin, allow }: Installation): string =>
  [
    ...['--hub', quoted(baseUrl), '--key', key, '--hub-key', hubKey],
    ...(pin === null ? [] : ['--pin', pin]),
    ...(allow.length === 0 ? [] : ['--allow', quoted(allow.join(','))]),
  ].join(' ')

/** A word for a POSIX shell. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
