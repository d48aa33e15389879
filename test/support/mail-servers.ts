import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port'

/**
 * OpenSMTPD, which accepts mail for `ada` and `bob` of example.com and rejects `late@example.com` temporarily; and in front of it
 * Dovecot's submission server, which requires TLS and the user `alerts`. Dovecot is needed because TLS of Debian's OpenSMTPD 6.8
 * doesn't work with OpenSSL 3.
 */
export interface MailServers {
  /** Without TLS or authentication. */
  plainPort: number
  startTlsPort: number
  implicitTlsPort: number
  password: string
  /** Certificate of both servers, for `localhost`. */
  ca: string
  /** Delivered mails, oldest first. */
  mails(): string[]
  stop(): Promise<void>
}

export async function mailServers(): Promise<MailServers> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-mail-'))
  const at = (name: string) => join(folder, name)
  chmodSync(folder, 0o755)
  for (const name of ['mails', 'home']) {
    mkdirSync(at(name))
    chmodSync(at(name), 0o777)
  }
  const [plainPort, startTlsPort, implicitTlsPort] = [await freePort(), await freePort(), await freePort()]
  const password = 'very-secret-mail-word'
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  await runCommand([
    'openssl',
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    ...subject,
    '-keyout',
    at('key'),
    '-out',
    at('cert'),
  ])
  writeFileSync(at('take'), `#!/bin/sh\ncat > ${folder}/$$.part && mv ${folder}/$$.part ${folder}/mails/$(date +%s%N).eml\n`)
  chmodSync(at('take'), 0o755)
  chmodSync(folder, 0o777)
  writeFileSync(
    at('smtpd.conf'),
    `table known { "ada@example.com", "bob@example.com" }
table late { "late@example.com" }
filter "later" phase rcpt-to match rcpt-to <late> reject "451 4.7.1 Come back later"
listen on 127.0.0.1 port ${plainPort} filter "later"
action "keep" mda "${at('take')}" virtual { "@" = "nobody" }
match from any for rcpt-to <known> action "keep"
`,
  )
  writeFileSync(
    at('dovecot.conf'),
    `base_dir = ${at('run')}
state_dir = ${at('state')}
log_path = ${at('log')}
protocols = submission
listen = 127.0.0.1
hostname = localhost
ssl = required
ssl_cert = <${at('cert')}
ssl_key = <${at('key')}
disable_plaintext_auth = yes
auth_mechanisms = plain login
auth_failure_delay = 0
mail_location = maildir:${at('home')}
submission_relay_host = 127.0.0.1
submission_relay_port = ${plainPort}
passdb {
  driver = static
  args = user=alerts password=${password}
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${at('home')}
}
service submission-login {
  inet_listener submission {
    port = ${startTlsPort}
  }
  inet_listener submissions {
    port = ${implicitTlsPort}
    ssl = yes
  }
}
`,
  )
  // The path of its control socket is fixed, so give it a /run of its own to avoid conflicts.
  const smtpd = `exec /usr/sbin/smtpd -d -f ${at('smtpd.conf')}`
  const canUnshare = (await Bun.spawn(['unshare', '-m', 'true'], { stderr: 'ignore' }).exited) === 0
  const running = [
    start(canUnshare ? ['unshare', '-m', 'sh', '-c', `mount -t tmpfs none /run && ${smtpd}`] : ['sh', '-c', smtpd]),
    start(['/usr/sbin/dovecot', '-F', '-c', at('dovecot.conf')]),
  ]
  const stop = async () => {
    for (const one of running) one.kill('SIGTERM')
    await Promise.all(running.map(one => one.exited))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const port of [plainPort, startTlsPort, implicitTlsPort]) await waitForPort(port)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    plainPort,
    startTlsPort,
    implicitTlsPort,
    password,
    ca: readFileSync(at('cert'), 'utf8'),
    mails: () =>
      readdirSync(at('mails'))
        .sort()
        .map(name => readFileSync(join(at('mails'), name), 'utf8')),
    stop,
  }
}

const start = (command: string[]) => Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })

async function runCommand(command: string[]): Promise<void> {
  const run = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
  const output = await new Response(run.stderr).text()
  if ((await run.exited) !== 0) throw new Error(`${command[0]}: ${output}`)
}

async function waitForPort(port: number): Promise<void> {
  for (let attempts = 0; attempts < 150; attempts++) {
    const open = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      }).on('error', () => resolve(false))
    })
    if (open) return
    await Bun.sleep(100)
  }
  throw new Error(`Nothing listens on port ${port}.`)
}
