import { existsSync } from 'node:fs'
import { installGenerators } from '../support/client-generators'
import { installDebianImage } from '../support/debian-image'
import { faketime } from '../support/faketime'
import { installBmcServers, installDnsClients } from '../support/python-packages'
import { installPostfix } from '../support/starttls-servers'
import { succeeds } from '../support/suite'
import { configuredMirror, installBackports } from './backports'

// Servers are in folders that are not in the PATH of users.
const path = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
/** Programs that the real tests need: the Debian package of each, and whether it is installed. */
const dependencies: { package: string; fromBackports?: true; present(): boolean }[] = [
  { package: 'postgresql', present: () => existsSync('/usr/lib/postgresql') || Bun.which('initdb') !== null },
  { package: 'borgbackup', present: () => Bun.which('borg') !== null },
  { package: 'borgmatic', present: () => Bun.which('borgmatic') !== null },
  { package: 'restic', present: () => Bun.which('restic') !== null },
  { package: 'libnet-epp-perl', present: () => existsSync('/usr/share/perl5/Net/EPP/Simple.pm') },
  { package: 'whois', present: () => Bun.which('whois') !== null },
  { package: 'wget', present: () => Bun.which('wget') !== null },
  { package: 'iproute2', present: () => Bun.which('ip') !== null },
  { package: 'jq', present: () => Bun.which('jq') !== null },
  { package: 'curl', present: () => Bun.which('curl') !== null },
  { package: 'chromium', present: () => Bun.which('chromium') !== null },
  { package: 'chromium-headless-shell', present: () => Bun.which('chromium-headless-shell') !== null },
  { package: 'systemd', present: () => Bun.which('systemd-analyze') !== null },
  { package: 'bind9-utils', present: () => Bun.which('named-compilezone') !== null },
  { package: 'bind9-dnsutils', present: () => Bun.which('dig') !== null && Bun.which('nsupdate') !== null },
  { package: 'python3', present: () => Bun.which('python3') !== null },
  { package: 'nodejs', present: () => Bun.which('node') !== null },
  { package: 'php-cli', present: () => Bun.which('php') !== null },
  { package: 'bind9', present: () => Bun.which('named', path) !== null },
  { package: 'bind9-dnsutils', present: () => Bun.which('dig') !== null },
  { package: 'knot', present: () => Bun.which('knotd', path) !== null },
  { package: 'pdns-server', present: () => Bun.which('pdns_server', path) !== null },
  { package: 'pdns-backend-sqlite3', present: () => existsSync('/usr/share/pdns-backend-sqlite3') },
  { package: 'nginx', present: () => Bun.which('nginx', path) !== null },
  { package: 'opensmtpd', present: () => Bun.which('smtpd', path) !== null },
  { package: 'dovecot-submissiond', present: () => existsSync('/usr/lib/dovecot/submission-login') },
  { package: 'iputils-ping', present: () => Bun.which('ping', path) !== null },
  { package: 'dovecot-imapd', present: () => existsSync('/usr/lib/dovecot/imap') },
  { package: 'dovecot-pop3d', present: () => existsSync('/usr/lib/dovecot/pop3') },
  { package: 'openssh-server', present: () => Bun.which('sshd', path) !== null },
  { package: 'pebble', present: () => Bun.which('pebble') !== null },
  { package: 'certspotter', present: () => Bun.which('certspotter') !== null },
  { package: 'dnsperf', present: () => Bun.which('dnsperf') !== null },
  { package: 'prometheus', present: () => Bun.which('promtool') !== null },
  { package: 'prometheus-blackbox-exporter', present: () => Bun.which('prometheus-blackbox-exporter', path) !== null },
  { package: 'ddclient', present: () => Bun.which('ddclient', path) !== null },
  { package: 'inadyn', present: () => Bun.which('inadyn', path) !== null },
  { package: 'hcloud-cli', present: () => Bun.which('hcloud') !== null },
  { package: 'openssl', present: () => Bun.which('openssl', path) !== null },
  {
    package: 'python3-venv',
    present: () => Bun.which('python3') !== null && Bun.spawnSync(['python3', '-c', 'import ensurepip']).success,
  },
  { package: 'openipmi', present: () => Bun.which('ipmi_sim') !== null },
  { package: 'ipmitool', present: () => Bun.which('ipmitool') !== null },
  { package: 'qemu-system-x86', present: () => Bun.which('qemu-system-x86_64') !== null },
  { package: 'incus-base', fromBackports: true, present: () => existsSync('/usr/libexec/incus/incusd') },
  { package: 'incus-client', fromBackports: true, present: () => Bun.which('incus') !== null },
  { package: 'lxd', present: () => Bun.which('lxd', path) !== null },
  { package: 'lxd-client', present: () => Bun.which('lxc') !== null },
  { package: 'dnsmasq-base', present: () => Bun.which('dnsmasq', path) !== null },
  { package: 'mmdebstrap', present: () => Bun.which('mmdebstrap') !== null },
  { package: 'libfaketime', present: () => existsSync(faketime) },
  { package: 'nftables', present: () => Bun.which('nft', path) !== null },
  { package: 'btrfs-progs', present: () => Bun.which('mkfs.btrfs', path) !== null },
  { package: 'busybox-static', present: () => existsSync('/usr/share/doc/busybox-static') },
  { package: 'shellcheck', present: () => Bun.which('shellcheck') !== null },
  // Java runs a server from its source.
  { package: 'default-jdk-headless', present: () => Bun.which('javac') !== null },
  { package: 'sslscan', present: () => Bun.which('sslscan') !== null },
  { package: 'dovecot-managesieved', present: () => existsSync('/usr/lib/dovecot/managesieve') },
  { package: 'slapd', present: () => Bun.which('slapd', path) !== null },
  { package: 'mariadb-server-core', present: () => Bun.which('mariadbd', path) !== null },
  { package: 'prosody', present: () => Bun.which('prosody') !== null },
]
const maxAttempts = 3

/**
 * Installs missing packages with apt-get, if run as root, the client generators, the clients of DNS providers, simulated BMCs, Postfix, and an image of Debian.
 * @returns what is still missing
 */
export async function installDependencies(): Promise<string[]> {
  const missing = await installPackages()
  if (!(await installGenerators())) missing.push('client generators')
  if (!(await installDnsClients())) missing.push('DNS clients')
  if (!(await installBmcServers())) missing.push('BMC servers')
  if (!(await installPostfix())) missing.push('Postfix')
  if (!(await installDebianImage(configuredMirror()))) missing.push('Debian image')
  return missing
}

async function installPackages(): Promise<string[]> {
  const missingIn = (fromBackports: boolean) =>
    dependencies.filter(one => (one.fromBackports ?? false) === fromBackports && !one.present()).map(one => one.package)
  const missing = () => [...missingIn(false), ...missingIn(true)]
  const initiallyMissing = missing()
  if (initiallyMissing.length === 0 || process.getuid?.() !== 0 || !Bun.which('apt-get')) return initiallyMissing
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  for (let at = 1; at <= maxAttempts && missing().length > 0; at++) {
    if (at > 1) await Bun.sleep(5000 * at)
    // An outdated package list can contain packages that the mirror no longer has.
    const backports = missingIn(true)
    if (backports.length > 0) await installBackports(backports)
    if (missingIn(false).length === 0 || !(await succeeds(['apt-get', 'update', '-qq'], env))) continue
    await succeeds(['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...missingIn(false)], env)
  }
  return missing()
}

if (import.meta.main) {
  const missing = await installDependencies()
  if (missing.length > 0)
    process.stdout.write(`Not installed: ${missing.join(', ')}. Run this as root, with access to package registries.\n`)
  process.exit(missing.length === 0 ? 0 : 1)
}
