import { InvalidCheckInput } from '../check'
import { validateCertificates } from '../tls-options'
import type { HttpOptions, SshTunnel } from './options'
import { validateResolver } from './resolver'
import { readSshKey, maxKdfRounds, type SshKeyFault } from '../ssh/ssh-key'
import { statusRanges } from './status-ranges'
import { connectionHeaders } from '../../core/net/connection-headers'
import { canonicalHost } from '../../core/net/host-name'

/** Validates what the schema cannot express. @throws InvalidCheckInput */
export function validateHttpOptions(options: HttpOptions, target: string): void {
  const { method = 'GET', body, auth, proxy, ssh_tunnel: tunnel } = options
  const reject = (member: string, rule: string): never => {
    throw new InvalidCheckInput(`/options/${member}`, rule)
  }
  if (method === 'CONNECT' || method === 'TRACE') reject('method', 'must not be CONNECT or TRACE.')
  if (body !== undefined && (method === 'HEAD' || method === 'GET')) reject('body', `must not be set with ${method}.`)
  for (const member of ['headers', 'secret_headers'] as const) {
    for (const name of Object.keys(options[member] ?? {})) {
      if (reservedHeaders.has(name.toLowerCase())) reject(member, `must not contain ${name}, which is set automatically.`)
    }
  }
  if (body !== undefined && options.body_encoding === 'json' && !isJson(body)) reject('body', 'must be valid JSON.')
  if (body !== undefined && options.body_encoding === 'form' && !/^[!-~]*$/.test(body))
    reject('body', 'must be form-encoded, such as name=value&name=value.')
  if (statusRanges(options.accepted_status_codes).some(([from, to]) => to < from))
    reject('accepted_status_codes', 'must have ranges that start with the lower number.')
  if (auth?.type === 'basic' && auth.username.includes(':'))
    reject('auth/username', 'must not contain a colon (RFC 7617 section 2).')
  if (auth?.type === 'oauth2' && !isUrl(auth.token_url, ['http:', 'https:']))
    reject('auth/token_url', 'must be an http or https URL without a username, password, or fragment.')
  if (auth?.type === 'ntlm' && options.http_version === '2')
    reject('http_version', 'must be 1.1 with NTLM, which authenticates a single connection.')
  if (options.tls === 'forbidden' && options.follow_redirects === false && target.startsWith('https:'))
    reject('tls', 'must not be forbidden if the target is an https URL.')
  if (proxy && !isUrl(proxy.url, ['http:', 'https:', 'socks4:', 'socks5:']))
    reject(
      'proxy/url',
      'must be an http, https, socks4, or socks5 URL with a host and port, such as socks5://proxy.example.net:1080.',
    )
  if (proxy?.password !== undefined && proxy.username === undefined) reject('proxy/username', 'is required with a password.')
  if (options.resolver !== undefined) {
    validateResolver(options.resolver)
    if (proxy || tunnel)
      reject('resolver', 'must not be combined with a proxy or an SSH tunnel, which resolve the target themselves.')
  }
  if (tunnel && proxy) reject('ssh_tunnel', 'must not be combined with `proxy`.')
  if (tunnel) validateTunnel(tunnel, (member, rule) => reject(`ssh_tunnel/${member}`, rule))
  validateCertificates(options)
}

function validateTunnel(tunnel: SshTunnel, reject: (member: string, rule: string) => never): void {
  const { password, private_key: key, passphrase } = tunnel
  if (canonicalHost(tunnel.host) === null) reject('host', 'must be a hostname or IP address.')
  if (password === undefined && key === undefined) reject('password', 'is required unless `private_key` is set.')
  if (password !== undefined && key !== undefined) reject('password', 'must not be combined with `private_key`.')
  if (passphrase !== undefined && key === undefined) reject('private_key', 'is required with a passphrase.')
  if (key === undefined) return
  const read = readSshKey(key, passphrase)
  if (typeof read === 'string') reject(read === 'locked' ? 'passphrase' : 'private_key', keyRules[read])
}

const keyRules: Record<SshKeyFault, string> = {
  unreadable: 'must be a private key as written by `ssh-keygen`, in OpenSSH or PEM format.',
  locked: 'is required and must match the private key.',
  slow: `must not use more than ${maxKdfRounds} KDF rounds; re-encrypt it with \`ssh-keygen -p -a 16\`.`,
}

/** The client also sets the accepted encodings itself. */
const reservedHeaders: ReadonlySet<string> = new Set([...connectionHeaders, 'accept-encoding', 'http2-settings'])

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isUrl(text: string, schemes: readonly string[]): boolean {
  const url = /[\s\p{Cc}\\#]/u.test(text) ? null : URL.parse(text)
  return url !== null && schemes.includes(url.protocol) && url.hostname !== '' && url.username === '' && url.password === ''
}
