import type { CheckTypeName } from '../../src/checks/check'

/** What the contract tests need to know about a check type. */
export interface CheckSubject {
  /** A target and options for a server at this address. */
  asking(host: string, port: number): { target: string; options: Record<string, unknown> }
  /** More can be tested for types over TCP. */
  transport: 'tcp' | 'udp' | 'icmp'
  /** Options that cover every secret of the type, each containing `changeme`; one entry per alternative. */
  secrets?: Record<string, unknown>[]
}

/** One for each registered type. */
export const checkSubjects: Partial<Record<CheckTypeName, CheckSubject>> = {
  http: {
    asking: (host, port) => ({ target: `http://${host}:${port}/health`, options: {} }),
    transport: 'tcp',
    secrets: [
      { auth: { type: 'basic', username: 'probe', password: 'changeme-password' }, secret_headers: { 'X-Key': 'changeme-key' } },
      { auth: { type: 'bearer', token: 'changeme-token' } },
      { auth: { type: 'ntlm', username: 'probe', password: 'changeme-ntlm' } },
    ],
  },
  tcp: {
    asking: (host, port) => ({ target: `${host}:${port}`, options: { steps: [{ expect: '^hello$' }] } }),
    transport: 'tcp',
  },
  icmp: {
    asking: host => ({ target: host, options: {} }),
    transport: 'icmp',
  },
  tls: {
    asking: (host, port) => ({ target: `${host}:${port}`, options: {} }),
    transport: 'tcp',
  },
  dns: {
    asking: (host, port) => ({ target: 'www.example.com', options: { resolver: `${host}:${port}` } }),
    transport: 'udp',
  },
  smtp: { asking: (host, port) => ({ target: `${host}:${port}`, options: {} }), transport: 'tcp' },
  imap: { asking: (host, port) => ({ target: `${host}:${port}`, options: {} }), transport: 'tcp' },
  pop3: { asking: (host, port) => ({ target: `${host}:${port}`, options: {} }), transport: 'tcp' },
  ssh: { asking: (host, port) => ({ target: `${host}:${port}`, options: {} }), transport: 'tcp' },
  websocket: {
    asking: (host, port) => ({ target: `ws://${host}:${port}/socket`, options: {} }),
    transport: 'tcp',
    secrets: [{ secret_headers: { 'X-Key': 'changeme-key' } }],
  },
}
