import type { X509Certificate } from 'node:crypto'
import { sha256Hex } from '../../../core/crypto'
import installer from './install-agent.sh' with { type: 'text' }
import { shellAgent } from './shell/shell-agent'

/** What the commands that install an agent depend on. */
interface Installation {
  baseUrl: string
  /** Public key of the hub: downloads are verified with it, and commands later. */
  hubKey: string
  /** The enrolment key. */
  key: string
  /** The only certificate of the hub that is accepted; null if certificate authorities decide. */
  certificate: X509Certificate | null
  allow: readonly string[]
}

const installerDigest = sha256Hex(installer)

/** A script that installs and enrolls the agent when a server starts for the first time, as root. */
export function installScript(of: Installation): string {
  const { curl, wget } = installs(of, 'sh')
  return `#!/bin/sh\nif command -v curl >/dev/null; then ${curl}; else ${wget}; fi\n`
}

/** Commands that install and enroll the agent, ready to be pasted. */
export function installCommands(of: Installation): { curl: string; wget: string; cloud_init: string; shell_agent: string } {
  const asRoot = installs(of, 'sh').curl
  return {
    ...installs(of, 'sudo sh'),
    cloud_init: `#cloud-config\nruncmd:\n  - [sh, -c, ${JSON.stringify(asRoot)}]\n`,
    shell_agent: installsShellAgent(of),
  }
}

/**
 * For root, without sudo. The script is always checked before it is run, because BusyBox does not verify certificates. Over HTTPS, the agent
 * needs curl anyway.
 */
function installsShellAgent({ baseUrl, key, certificate }: Installation): string {
  const url = quoted(`${baseUrl}/download/agent.sh`)
  const download = baseUrl.startsWith('https:')
    ? `curl -fsS${certificate ? 'k' : ''} ${url}`
    : `if command -v wget >/dev/null; then wget -qO- ${url}; else curl -fsS ${url}; fi`
  return checked(download, sha256Hex(shellAgent(certificate)), `sh "$f" install --hub ${quoted(baseUrl)} --key ${key}`)
}

/** Runs a downloaded script if it is the expected one. */
const checked = (download: string, digest: string, run: string): string =>
  `f=$(mktemp) && ${download} >"$f" && echo "${digest}  $f" | sha256sum -c >/dev/null && ${run}`

function installs(of: Installation, shell: string): { curl: string; wget: string } {
  const url = quoted(`${of.baseUrl}/download/agent`)
  const options = optionsOf(of)
  // Without a certificate that is verified, anyone on the network could replace the script, which verifies everything else.
  const isVerified = of.certificate === null && of.baseUrl.startsWith('https:')
  const install = (download: string) =>
    isVerified
      ? `${download} ${url} | ${shell} -s -- ${options}`
      : checked(`${download} ${url}`, installerDigest, `${shell} "$f" ${options}`)
  return of.certificate === null
    ? { curl: install('curl -fsSL'), wget: install('wget -qO-') }
    : { curl: install('curl -fsSLk'), wget: install('wget -qO- --no-check-certificate') }
}

const optionsOf = ({ baseUrl, key, hubKey, certificate, allow }: Installation): string =>
  [
    ...['--hub', quoted(baseUrl), '--key', key, '--hub-key', hubKey],
    ...(certificate === null ? [] : ['--pin', `sha256:${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`]),
    ...(allow.length === 0 ? [] : ['--allow', quoted(allow.join(','))]),
  ].join(' ')

/** A word for a POSIX shell. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
