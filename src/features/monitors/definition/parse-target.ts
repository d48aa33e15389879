import { quoted } from '../../../checks/buffered-connection'
import { canonicalHost } from '../../../core/net/host-name'
import { isId } from '../../../core/ids'
import { invalid } from '../../../core/problem'
import { isMonitorType, type MonitorTypeName } from './types'
import type { MonitorInput } from '../shapes'

interface ParsedTarget {
  type: MonitorTypeName
  target: string
  name: string
}

/**
 * Derives type, target, and name from what the user entered. The scheme of a URL decides the type; otherwise `host:port` is a TCP
 * connection, a hostname a website over HTTPS, and an IP address a ping. The name defaults to the host, with the port if given.
 * @throws Problem 422
 */
export function parseTarget(input: Pick<MonitorInput, 'type' | 'target' | 'name'>): ParsedTarget {
  const text = (input.target ?? '').trim()
  const type = input.type ?? typeOf(text)
  const target = input.type === undefined ? targetFor(type, text) : text
  const name = input.name ?? nameOf(text)
  if (name === '')
    throw invalid([{ pointer: '#/name', code: 'required', detail: 'is required, because it can’t be derived from the target.' }])
  return { type, target, name }
}

/** Types by the scheme of a URL. */
const schemes: Readonly<Record<string, MonitorTypeName>> = {
  http: 'http',
  https: 'http',
  ws: 'websocket',
  wss: 'websocket',
  tcp: 'tcp',
  tls: 'tls',
  icmp: 'icmp',
  ping: 'icmp',
  dns: 'dns',
  smtp: 'smtp',
  imap: 'imap',
  pop3: 'pop3',
  ssh: 'ssh',
}

const schemeOf = (text: string): string | null => /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase() ?? null

function typeOf(text: string): MonitorTypeName {
  if (isId(text, 'srv')) return 'server'
  const scheme = schemeOf(text)
  const type =
    scheme !== null
      ? schemes[scheme]
      : hostPort(text)
        ? 'tcp'
        : isAddress(text)
          ? 'icmp'
          : canonicalHost(text)
            ? 'http'
            : undefined
  if (type && isMonitorType(type)) return type
  const expected = 'a URL, `host:port`, a hostname, or an IP address'
  if (text === '')
    throw invalid([{ pointer: '#/type', code: 'required', detail: `is required without a target, which is ${expected}.` }])
  const rule = scheme === null ? `must be ${expected}, not ${quoted(text)}` : `has the unknown scheme ${quoted(scheme)}`
  throw invalid([{ pointer: '#/target', code: 'invalid', detail: `${rule}. For other targets, choose a type.` }])
}

function targetFor(type: MonitorTypeName, text: string): string {
  const scheme = schemeOf(text)
  if (type === 'http' || type === 'websocket') return scheme === null ? `https://${text}/` : text
  return scheme === null ? text : text.slice(scheme.length + 3).replace(/\/$/, '')
}

/** The default name of a monitor: the host, with the port if given. */
export function nameOf(text: string): string {
  const scheme = schemeOf(text.trim())
  const rest = scheme === null ? text.trim() : text.trim().slice(scheme.length + 3)
  return [...rest.replace(/[/?#].*$/s, '').replace(/^.*@/s, '')].slice(0, 200).join('')
}

const hostPort = (text: string): boolean => /^(\[[0-9a-f:.]+\]|[^\s:/[\]]+):\d{1,5}$/i.test(text)

const isAddress = (text: string): boolean => {
  const host = canonicalHost(text)
  return host !== null && (host.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(host))
}
