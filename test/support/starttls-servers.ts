import { chmodSync, chownSync, copyFileSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import type { ScanProtocol } from '../../src/checks/tls-probe/facts'
import { startPostgres } from './postgres'
import { installOnce } from './python-packages'
import { startServer, type ServerProcess } from './server-process'
import type { ServerKeys } from './tls-servers'

/** A server as packaged by Debian that switches to TLS. */
export interface StartTlsServer {
  protocol: ScanProtocol
  port: number
}

const postfix = join(homedir(), '.cache/bailiwick-postfix')

/** Unpacks Postfix in a folder of its own, because only one mail server can be installed. @returns whether it is there */
export const installPostfix = (): Promise<boolean> =>
  installOnce(postfix, '1', [
    ['rm', '-rf', postfix],
    ['mkdir', '-p', postfix],
    ['sh', '-ec', `cd ${postfix} && apt-get download -qq postfix && dpkg -x postfix_*.deb .`],
  ])

/** Starts all servers, at the same time. */
export async function startTlsServers(keys: ServerKeys): Promise<{ servers: StartTlsServer[]; stop(): Promise<void> }> {
  const started = await Promise.allSettled([
    startPostfix(keys),
    startDovecot(keys),
    startSlapd(keys),
    startMariaDb(keys),
    startProsody(keys),
    startPostgresWithTls(keys),
  ])
  const running = started.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  const stop = async () => void (await Promise.all(running.map(one => one.stop())))
  const failure = started.find(one => one.status === 'rejected')
  if (failure) {
    await stop()
    throw failure.reason
  }
  return { servers: running.flatMap(one => one.servers), stop }
}

interface Started {
  servers: StartTlsServer[]
  stop(): Promise<void>
}

const started = (server: ServerProcess, ...protocols: ScanProtocol[]): Started => ({
  servers: protocols.map((protocol, at) => ({ protocol, port: server.ports[at]! })),
  stop: () => server.stop(),
})

async function startPostfix(keys: ServerKeys): Promise<Started> {
  const programs = join(postfix, 'usr/lib/postfix/sbin')
  const server = await startServer(1, (folder, [port]) => {
    chmodSync(folder, 0o755)
    const at = (name: string) => join(folder, name)
    for (const name of ['spool', 'spool/pid', 'spool/private', 'spool/public', 'data']) mkdirSync(at(name))
    for (const name of ['spool/private', 'spool/public', 'data']) chownSync(at(name), ...daemon)
    return {
      command: ['env', `LD_LIBRARY_PATH=${postfix}/usr/lib/postfix`, join(programs, 'master'), '-c', folder, '-d'],
      files: {
        'main.cf': `compatibility_level = 3.6
queue_directory = ${at('spool')}
command_directory = ${postfix}/usr/sbin
daemon_directory = ${programs}
shlib_directory = no
meta_directory = ${folder}
data_directory = ${at('data')}
mail_owner = daemon
setgid_group = mail
maillog_file = ${at('log')}
maillog_file_prefixes = ${folder}
import_environment = MAIL_CONFIG LD_LIBRARY_PATH
myhostname = a.test
mynetworks = 127.0.0.1
alias_maps =
local_recipient_maps =
smtpd_tls_cert_file = ${keys.file('rsa', 'pem')}
smtpd_tls_key_file = ${keys.file('rsa', 'key')}
smtpd_tls_security_level = may
smtpd_client_connection_count_limit = 0
smtpd_relay_restrictions = reject
`,
        'master.cf': `127.0.0.1:${port} inet n - n - - smtpd
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
`,
      },
    }
  })
  return started(server, 'smtp')
}

/** User and group of Debian's daemon. */
const daemon = [1, 1] as const

async function startDovecot(keys: ServerKeys): Promise<Started> {
  const server = await startServer(3, (folder, [imap, pop3, sieve]) => ({
    command: ['/usr/sbin/dovecot', '-F', '-c', join(folder, 'dovecot.conf')],
    files: {
      'dovecot.conf': `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap pop3 sieve
listen = 127.0.0.1
ssl = yes
ssl_cert = <${keys.file('ec', 'pem')}
ssl_key = <${keys.file('ec', 'key')}
mail_location = maildir:${folder}/mails
passdb {
  driver = static
  args = user=a password=changeme
}
service imap-login {
  inet_listener imap {
    port = ${imap}
  }
  inet_listener imaps {
    port = 0
  }
}
service pop3-login {
  inet_listener pop3 {
    port = ${pop3}
  }
  inet_listener pop3s {
    port = 0
  }
}
service managesieve-login {
  inet_listener sieve {
    port = ${sieve}
  }
}
`,
    },
  }))
  return started(server, 'imap', 'pop3', 'sieve')
}

async function startSlapd(keys: ServerKeys): Promise<Started> {
  const server = await startServer(1, (folder, [port]) => {
    mkdirSync(join(folder, 'entries'))
    return {
      command: ['/usr/sbin/slapd', '-d', '0', '-f', join(folder, 'slapd.conf'), '-h', `ldap://127.0.0.1:${port}`],
      files: {
        'slapd.conf': `include /etc/ldap/schema/core.schema
pidfile ${folder}/pid
argsfile ${folder}/args
TLSCertificateFile ${keys.file('rsa', 'pem')}
TLSCertificateKeyFile ${keys.file('rsa', 'key')}
database ldif
directory ${folder}/entries
suffix "dc=test"
`,
      },
    }
  })
  return started(server, 'ldap')
}

async function startMariaDb(keys: ServerKeys): Promise<Started> {
  const server = await startServer(1, (folder, [port]) => {
    mkdirSync(join(folder, 'data'))
    return {
      command: [
        ...['/usr/sbin/mariadbd', '--no-defaults', `--datadir=${folder}/data`, `--socket=${folder}/socket`, `--port=${port}`],
        ...['--bind-address=127.0.0.1', '--skip-grant-tables', '--innodb=OFF', '--default-storage-engine=MyISAM', '--user=root'],
        ...[`--pid-file=${folder}/pid`, `--ssl-cert=${keys.file('rsa', 'pem')}`, `--ssl-key=${keys.file('rsa', 'key')}`],
      ],
      files: {},
    }
  })
  return started(server, 'mysql')
}

async function startProsody(keys: ServerKeys): Promise<Started> {
  const server = await startServer(1, (folder, [port]) => ({
    command: ['/usr/bin/prosody', '--config', join(folder, 'prosody.cfg.lua'), '-F'],
    files: {
      'prosody.cfg.lua': `run_as_root = true
pidfile = "${folder}/pid"
data_path = "${folder}"
log = "${folder}/log"
interfaces = { "127.0.0.1" }
c2s_ports = { ${port} }
modules_enabled = { "tls", "saslauth" }
modules_disabled = { "s2s", "offline" }
ssl = { certificate = "${keys.file('rsa', 'pem')}", key = "${keys.file('rsa', 'key')}" }
VirtualHost "a.test"
`,
    },
  }))
  return started(server, 'xmpp')
}

async function startPostgresWithTls(keys: ServerKeys): Promise<Started> {
  const server = await startPostgres()
  const sql = new SQL(server.url)
  try {
    const [{ folder }] = await sql`SELECT current_setting('data_directory') AS folder`
    // The server only accepts a key that belongs to it, and that nobody else can read.
    const { uid, gid } = statSync(folder)
    for (const suffix of ['pem', 'key'] as const) {
      const file = join(folder, `tls.${suffix}`)
      copyFileSync(keys.file('ec', suffix), file)
      chmodSync(file, 0o600)
      chownSync(file, uid, gid)
    }
    await sql`ALTER SYSTEM SET ssl_cert_file = 'tls.pem'`
    await sql`ALTER SYSTEM SET ssl_key_file = 'tls.key'`
    await sql`ALTER SYSTEM SET ssl = on`
    await sql`SELECT pg_reload_conf()`
  } finally {
    await sql.close()
  }
  return { servers: [{ protocol: 'postgres', port: Number(new URL(server.url).port) }], stop: () => server.stop() }
}
