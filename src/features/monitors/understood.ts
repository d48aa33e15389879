import { canonicalHost } from '../../core/net/host-name'
import { invalid } from '../../core/problem'
import { isMonitorType, type MonitorTypeName } from './monitor-types'
import type { MonitorInput } from './shapes'

/** What is checked, how, and what it is called. */
export interface Understood {
  type: MonitorTypeName
  target: string
  name: string
}

/**
 * Reads what was pasted: a URL, `host:port` or a host is enough. A scheme names the type; `host:port` is a TCP connection, a host name
 * a web site over HTTPS, and an address a ping. The name is the host’s, with the port that was given.
 * @throws Problem 422
 */
export function understood(input: Pick<MonitorInput, 'type' | 'target' | 'name'>): Understood {
  const text = (input.target ?? '').trim()
  const type = input.type ?? typeOf(text)
  const target = input.type === undefined ? targetFor(type, text) : text
  const name = input.name ?? nameOf(text)
  if (name === '') throw invalid([{ pointer: '#/name', code: 'required', detail: 'is required where the target tells none.' }])
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
  throw invalid([
    {
      pointer: '#/type',
      code: 'required',
      detail: 'is required: the target tells none, as `https://…`, `host:port` or a host would.',
    },
  ])
}

function targetFor(type: MonitorTypeName, text: string): string {
  const scheme = schemeOf(text)
  if (type === 'http' || type === 'websocket') return scheme === null ? `https://${text}/` : text
  return scheme === null ? text : text.slice(scheme.length + 3).replace(/\/$/, '')
}

/** What a monitor of this target is called: the host, with the port that was given. */
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
