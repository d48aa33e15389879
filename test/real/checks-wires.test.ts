import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckType } from '../../src/checks/check'
import { dns } from '../../src/checks/dns'
import { imap } from '../../src/checks/imap'
import { pop3 } from '../../src/checks/pop3'
import { smtp } from '../../src/checks/smtp'
import { ssh } from '../../src/checks/ssh'
import { tcp } from '../../src/checks/tcp'
import { checkContext } from '../support/check-context'
import { mailServers, type MailServers } from '../support/mail-servers'
import { until } from '../support/binary'
import { startServer, type ServerProcess } from '../support/server-process'
import { fixtureCa } from '../support/talker'

// Checks of BIND, Dovecot, OpenSMTPD and OpenSSH as packaged by Debian.

const fixtures = new URL('../fixtures/tls/', import.meta.url).pathname
const root = process.getuid?.() === 0

const run = async <O extends object>(type: CheckType<O>, target: string, options: O) => {
  const canonical = type.target(target)
  type.validate?.(options, canonical)
  return await type.run(canonical, options, checkContext())
}
const trusted = { ca: fixtureCa }

describe('BIND', () => {
  let bind: ServerProcess
  beforeAll(async () => {
    bind = await startServer(3, (folder, [plain, tls, https]) => {
      const addresses = Array.from({ length: 100 }, (_, at) => `many A 192.0.2.${at}`).join('\n')
      return {
        command: ['/usr/sbin/named', '-f', '-c', join(folder, 'named.conf')],
        files: {
          zone: `$TTL 60\n@ SOA ns1 host 1 3600 600 86400 60\n@ NS ns1\nns1 A 192.0.2.53\nwww A 192.0.2.1\nwww A 192.0.2.2\n@ MX 10 mail\n@ TXT "v=spf1 " "-all"\n${addresses}\n`,
          'named.conf': `tls own { cert-file "${fixtures}two-names.pem"; key-file "${fixtures}two-names.key"; };
            options {
              directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";
              listen-on port ${plain} { 127.0.0.1; }; listen-on port ${tls} tls own { 127.0.0.1; };
              listen-on port ${https} tls own http default { 127.0.0.1; }; listen-on-v6 { none; };
              recursion no; notify no; dnssec-validation no; empty-zones-enable no;
            };
            controls { };
            zone "example.test" { type primary; file "${folder}/zone"; };`,
        },
      }
    })
    // It responds with SERVFAIL until it has loaded its zone.
    const query = { transport: 'udp' as const, resolver: resolver('udp') }
    await until('the zone is loaded', async () => (await run(dns, 'www.example.test', query)).error === null)
  })
  afterAll(async () => await bind?.stop())

  const transports = ['udp', 'tcp', 'dot', 'doh'] as const
  const resolver = (by: (typeof transports)[number]) => {
    const [plain, tls, https] = bind.ports
    return by === 'doh' ? `https://a.test:${https}/dns-query` : `a.test:${by === 'dot' ? tls : plain}`
  }

  test.each(transports)('answers over %s', async transport => {
    const input = { transport, resolver: resolver(transport), ...trusted }
    const www = await run(dns, 'www.example.test', {
      ...input,
      expected_answers: ['192.0.2.1', '192.0.2.2'],
      match: 'exact',
      require_authoritative: true,
    })
    expect(www).toMatchObject({ connected: true, error: null, dns: { rcode: 'NOERROR' } })
    expect(www.tls === null).toBe(transport === 'udp' || transport === 'tcp')
    expect((await run(dns, 'example.test', { ...input, record_type: 'TXT', expected_answers: ['v=spf1 -all'] })).error).toBeNull()
    expect(
      (await run(dns, 'example.test', { ...input, record_type: 'MX', expected_answers: ['10 mail.example.test'] })).error,
    ).toBeNull()
    expect((await run(dns, 'none.example.test', { ...input, expected_rcode: 'NXDOMAIN' })).error).toBeNull()
    expect((await run(dns, 'other.test', input)).error).toEqual({
      kind: 'status',
      message: 'response code is REFUSED, expected NOERROR',
    })
    expect((await run(dns, 'example.test', { ...input, record_type: 'AAAA' })).error!.kind).toBe('content')
  })

  test('sends large answers over TCP', async () => {
    const facts = await run(dns, 'many.example.test', { resolver: resolver('udp') })
    expect(facts.error).toBeNull()
    expect(facts.dns!.answers).toHaveLength(100)
    expect(facts.request).toContain('then over tcp')
  })

  test('presents a certificate that must be trusted', async () => {
    for (const transport of ['dot', 'doh'] as const)
      expect((await run(dns, 'www.example.test', { transport, resolver: resolver(transport) })).error!.kind).toBe('certificate')
  })
})

describe('Dovecot', () => {
  let dovecot: ServerProcess
  beforeAll(async () => {
    dovecot = await startServer(4, (folder, [imapPort, imapsPort, pop3Port, pop3sPort]) => {
      chmodSync(folder, 0o755)
      const listener = (name: string, port: number, tls: boolean) =>
        `inet_listener ${name} {\n port = ${port}\n ssl = ${tls ? 'yes' : 'no'}\n}\n`
      return {
        command: ['/usr/sbin/dovecot', '-F', '-c', join(folder, 'dovecot.conf')],
        files: {
          'dovecot.conf': `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap pop3
listen = 127.0.0.1
ssl = yes
ssl_cert = <${fixtures}two-names.pem
ssl_key = <${fixtures}two-names.key
passdb {
  driver = static
  args = nopassword=y
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${folder}
}
service imap-login {
${listener('imap', imapPort!, false)}${listener('imaps', imapsPort!, true)}}
service pop3-login {
${listener('pop3', pop3Port!, false)}${listener('pop3s', pop3sPort!, true)}}
`,
        },
      }
    })
  })
  afterAll(async () => await dovecot?.stop())

  test.each([
    ['imap', imap, 0, 'IDLE'],
    ['pop3', pop3, 2, 'UIDL'],
  ] as const)('serves %s without TLS, with STARTTLS and with implicit TLS', async (_, type, at, capability) => {
    const [plain, secure] = dovecot.ports.slice(at)
    const input = { ...trusted, expected_banner: '*Dovecot*', expected_capabilities: [capability] }
    expect((await run(type, `a.test:${plain}`, input)).error).toBeNull()
    for (const [port, tls] of [
      [plain, 'starttls'],
      [secure, 'implicit'],
    ] as const) {
      const facts = await run(type, `a.test:${port}`, { ...input, tls })
      expect(facts).toMatchObject({ error: null, tls: { certificate: { names: ['a.test', 'b.test'] } } })
      const other = await run(type, `a.test:${port}`, { ...input, tls, server_name: 'c.test' })
      expect(other.error!.kind).toBe('certificate')
    }
    expect((await run(type, `a.test:${plain}`, { expected_capabilities: ['X-NONE'] })).error!.kind).toBe('content')
  })

  test('works with a script that uses STARTTLS', async () => {
    const facts = await run(tcp, `a.test:${dovecot.ports[0]}`, {
      ...trusted,
      tls: 'starttls',
      steps: [
        { expect: '^\\* OK .*Dovecot', send: '1 STARTTLS\r\n' },
        { expect: '^1 OK', starttls: true },
        { send: '2 CAPABILITY\r\n' },
        { expect: '^\\* CAPABILITY .*AUTH=', send: '3 LOGOUT\r\n' },
        { expect: '^3 OK' },
      ],
    })
    expect(facts).toMatchObject({ error: null, tls: { certificate: { names: ['a.test', 'b.test'] } } })
  })

  test('logs no errors', async () => {
    const log = await Bun.file(join(dovecot.folder, 'log')).text()
    expect(log).not.toMatch(/error|fatal/i)
  })
})

describe.skipIf(!root)('mail servers', () => {
  let mail: MailServers
  beforeAll(async () => {
    mail = await mailServers()
  })
  afterAll(async () => await mail?.stop())
  const here = { ca: '', server_name: 'localhost' }

  test('OpenSMTPD greets and announces its capabilities', async () => {
    const facts = await run(smtp, `127.0.0.1:${mail.plainPort}`, {
      expected_banner: '*ESMTP*',
      expected_capabilities: ['8BITMIME'],
    })
    expect(facts).toMatchObject({ error: null, status: 220 })
    expect(facts.body).toContain('250')
    expect((await run(smtp, `127.0.0.1:${mail.plainPort}`, { tls: 'starttls' })).error!.kind).toBe('tls')
  })

  test('Dovecot serves SMTP with STARTTLS and with implicit TLS', async () => {
    for (const [port, tls] of [
      [mail.startTlsPort, 'starttls'],
      [mail.implicitTlsPort, 'implicit'],
    ] as const) {
      const input = { ...here, ca: mail.ca, tls, expected_capabilities: ['AUTH PLAIN*'] }
      expect(await run(smtp, `127.0.0.1:${port}`, input)).toMatchObject({
        error: null,
        status: 220,
        tls: { certificate: { names: ['localhost'] } },
      })
    }
  })
})

describe.skipIf(!root)('OpenSSH', () => {
  let folder: string
  let sshd: ServerProcess
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bailiwick-ssh-'))
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    const key = join(folder, 'key')
    const created = Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key])
    if (created.exitCode !== 0) throw new Error(created.stderr.toString())
    sshd = await startServer(1, (at, [port]) => ({
      command: ['/usr/sbin/sshd', '-D', '-E', join(at, 'log'), '-f', join(at, 'sshd_config')],
      files: { sshd_config: `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${key}\nPidFile none\nLogLevel VERBOSE\n` },
    }))
  })
  afterAll(async () => {
    await sshd?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('announces its version, and receives a disconnect message', async () => {
    expect((await run(ssh, `a.test:${sshd.ports[0]}`, { expected_banner: 'SSH-2.0-OpenSSH_*' })).error).toBeNull()
    const log = await Bun.file(join(sshd.folder, 'log')).text()
    expect(log).toContain('Received disconnect')
    expect(log).toContain('checked')
  })
})
