import { CheckInputRefused } from '../check'
import { refuseCertificates } from '../tls-options'
import type { HttpOptions, SshTunnel } from './options'
import { refuseResolver } from './resolver'
import { readSshKey, roundsMost, type SshKeyFault } from './ssh-key'
import { statusRanges } from './status-ranges'
import { connectionHeaders } from '../../core/net/connection-headers'
import { canonicalHost } from '../../core/net/host-name'

/** What the schema cannot say. @throws CheckInputRefused */
export function refuseHttpOptions(options: HttpOptions, target: string): void {
  const { method = 'GET', body, auth, proxy, ssh_tunnel: tunnel } = options
  const refuse = (member: string, rule: string): never => {
    throw new CheckInputRefused(`/options/${member}`, rule)
  }
  if (method === 'CONNECT' || method === 'TRACE') refuse('method', 'must not be CONNECT or TRACE.')
  if (body !== undefined && (method === 'HEAD' || method === 'GET')) refuse('body', `must not be given with ${method}.`)
  for (const member of ['headers', 'secret_headers'] as const) {
    for (const name of Object.keys(options[member] ?? {})) {
      if (ownHeaders.has(name.toLowerCase()))
        refuse(member, `must not hold ${name}, which belongs to the connection and is set by the check.`)
    }
  }
  if (body !== undefined && options.body_encoding === 'json' && !isJson(body)) refuse('body', 'must be JSON.')
  if (body !== undefined && options.body_encoding === 'form' && !/^[!-~]*$/.test(body))
    refuse('body', 'must be a form, encoded as in a URL: name=value&name=value.')
  if (statusRanges(options.accepted_status).some(([from, to]) => to < from))
    refuse('accepted_status', 'must have ranges that begin with the lower number.')
  if (auth?.type === 'basic' && auth.username.includes(':'))
    refuse('auth/username', 'must not hold a colon, which ends it on the way (RFC 7617 section 2).')
  if (auth?.type === 'oauth2' && !isUrl(auth.token_url, ['http:', 'https:']))
    refuse('auth/token_url', 'must be a URL of the scheme http or https, without user name, password and fragment.')
  if (auth?.type === 'ntlm' && options.http_version === '2')
    refuse('http_version', 'must be 1.1 with NTLM, which belongs to one connection.')
  if (options.tls === 'forbidden' && options.follow_redirects === false && target.startsWith('https:'))
    refuse('tls', 'must not be forbidden with a target of the scheme https.')
  if (proxy && !isUrl(proxy.url, ['http:', 'https:', 'socks4:', 'socks5:']))
    refuse('proxy/url', 'must be http, https, socks4 or socks5 with a host and a port: socks5://proxy.example.net:1080.')
  if (proxy?.password !== undefined && proxy.username === undefined) refuse('proxy/username', 'is required with a password.')
  if (options.resolver !== undefined) {
    refuseResolver(options.resolver)
    if (proxy || tunnel) refuse('resolver', 'must not be given with a proxy or a tunnel, which look the target up themselves.')
  }
  if (tunnel && proxy) refuse('ssh_tunnel', 'must not be given with `proxy`: one way leads to the target.')
  if (tunnel) refuseTunnel(tunnel, (member, rule) => refuse(`ssh_tunnel/${member}`, rule))
  refuseCertificates(options)
}

function refuseTunnel(tunnel: SshTunnel, refuse: (member: string, rule: string) => never): void {
  const { password, private_key: key, passphrase } = tunnel
  if (canonicalHost(tunnel.host) === null) refuse('host', 'must be a host name or an address.')
  if (password === undefined && key === undefined) refuse('password', 'is required, or `private_key` in its place.')
  if (password !== undefined && key !== undefined) refuse('password', 'must not be given with `private_key`.')
  if (passphrase !== undefined && key === undefined) refuse('private_key', 'is required with a passphrase.')
  if (key === undefined) return
  const read = readSshKey(key, passphrase)
  if (typeof read === 'string') refuse(read === 'locked' ? 'passphrase' : 'private_key', keyRules[read])
}

const keyRules: Record<SshKeyFault, string> = {
  unreadable: 'must be a private key as `ssh-keygen` writes it, in the form of OpenSSH or in PEM.',
  locked: 'is required, and must be what opens the private key.',
  slow: `must not take more than ${roundsMost} rounds to open: \`ssh-keygen -p -a 16\` writes it anew.`,
}

/** The client also says itself which encodings it reads. */
const ownHeaders: ReadonlySet<string> = new Set([...connectionHeaders, 'accept-encoding', 'http2-settings'])

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
