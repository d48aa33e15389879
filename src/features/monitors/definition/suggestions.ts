import { canonicalHost } from '../../../core/net/host-name'
import { InvalidCheckInput } from '../../../checks/check'
import { findMonitorType, type MonitorTypeName } from './types'
import type { MonitorSuggestionView } from './shapes'
import { nameOf } from './parse-target'

/** Types by well-known port (RFC 6335). */
const typesOfPort: Readonly<Record<string, MonitorTypeName>> = {
  22: 'ssh',
  25: 'smtp',
  80: 'http',
  110: 'pop3',
  143: 'imap',
  443: 'http',
  465: 'smtp',
  587: 'smtp',
  993: 'imap',
  995: 'pop3',
}

/**
 * Suggests monitors for a pasted target, best match first. For a URL: the site, its certificate, its DNS name, and its host. For
 * `host:port`: the protocol of a well-known port, then a TCP connection. For a bare name: any of these.
 * @returns an empty list if the text is not a target
 */
export function suggestMonitors(pasted: string): MonitorSuggestionView[] {
  const text = pasted.trim()
  const seen = new Set<string>()
  return guesses(text).flatMap(([type, target]) => {
    const kind = findMonitorType(type)
    const validTarget = kind && targetOf(kind, target)
    if (!kind || validTarget === null || validTarget === undefined || seen.has(type)) return []
    seen.add(type)
    return [{ type, title: kind.title, target: validTarget, name: nameOf(type === 'icmp' ? validTarget : text) }]
  })
}

type Guess = [type: MonitorTypeName, target: string]

function guesses(text: string): Guess[] {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):\/\/(.+)$/is.exec(text) ?? []
  if (scheme !== undefined) return ofUrl(scheme.toLowerCase(), rest!, text)
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(text) ?? []
  if (port !== undefined) return ofPort(bracketed ?? plain!, port, text)
  const path = text.indexOf('/')
  const host = path < 0 ? text : text.slice(0, path)
  if (canonicalHost(host) === null) return []
  if (path >= 0) return ofUrl('https', text, `https://${text}`)
  const site: Guess = ['http', `https://${literal(host)}/`]
  if (isAddress(host)) return [['icmp', host], site, ['tls', `${literal(host)}:443`]]
  return [site, ['icmp', host], ['dns', host], ['tls', `${host}:443`]]
}

function ofUrl(scheme: string, rest: string, text: string): Guess[] {
  if (!['http', 'https', 'ws', 'wss'].includes(scheme)) {
    const type = scheme === 'ping' ? 'icmp' : (scheme as MonitorTypeName)
    return [[type, rest.replace(/\/$/, '')]]
  }
  const url = URL.parse(text)
  const host = url && canonicalHost(url.hostname.replace(/^\[|\]$/g, ''))
  if (!url || !host) return []
  const found: Guess[] = [[scheme.startsWith('ws') ? 'websocket' : 'http', text]]
  if (scheme === 'https' || scheme === 'wss') found.push(['tls', `${literal(host)}:${url.port || 443}`])
  if (!isAddress(host)) found.push(['dns', host])
  found.push(['icmp', host])
  return found
}

function ofPort(host: string, port: string, text: string): Guess[] {
  if (canonicalHost(host) === null) return []
  const known = typesOfPort[port]
  const found: Guess[] = []
  if (known === 'http') found.push(['http', `${port === '443' ? 'https' : 'http'}://${literal(host)}/`])
  else if (known) found.push([known, text])
  found.push(['tcp', text])
  if (['443', '465', '993', '995'].includes(port)) found.push(['tls', text])
  found.push(['icmp', host])
  return found
}

function targetOf(kind: NonNullable<ReturnType<typeof findMonitorType>>, target: string): string | null {
  try {
    return kind.target(target)
  } catch (error) {
    if (error instanceof InvalidCheckInput) return null
    throw error
  }
}

const literal = (host: string): string => (host.includes(':') ? `[${host}]` : host)
const isAddress = (host: string): boolean => host.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(host)
