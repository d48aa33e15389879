import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files of a guest that gets its address by DHCP, serves a page on port 80, and stops at once when it is asked to. */
const files: Record<string, string> = {
  '/sbin/init': `#!/bin/sh
trap 'exit 0' PWR
ip link set lo up
udhcpc -i eth0 -b -t 5 -s /etc/dhcp >/dev/null 2>&1
mkdir -p /www
hostname > /www/index.html
httpd -p 80 -h /www
while :; do
  sleep 3600 &
  wait $!
done
`,
  '/etc/dhcp': `#!/bin/sh
case "$1" in
  bound | renew)
    ip addr flush dev $interface
    ip addr add $ip/\${mask:-24} dev $interface
    ip link set $interface up
    [ -n "$router" ] && ip route add default via $router
    ;;
  deconfig) ip link set $interface up ;;
esac
`,
  '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n',
  '/etc/group': 'root:x:0:\n',
}

/** Builds an image of 1 MB for containers. @param folder to build it in */
export async function busyboxImage(folder: string, title: string): Promise<Blob> {
  const root = join(folder, 'rootfs')
  for (const name of ['bin', 'sbin', 'etc', 'proc', 'sys', 'dev', 'run', 'tmp', 'root', 'usr/bin', 'usr/sbin'])
    mkdirSync(join(root, name), { recursive: true })
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'))
  chmodSync(join(root, 'bin/busybox'), 0o755)
  const { stdout } = Bun.spawnSync(['/bin/busybox', '--list'])
  for (const name of stdout.toString().trim().split('\n')) if (name !== 'busybox') symlinkSync('busybox', join(root, 'bin', name))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text, { mode: 0o755 })
  const properties = { os: 'busybox', release: '1', description: title, architecture: 'x86_64' }
  writeFileSync(
    join(folder, 'metadata.yaml'),
    JSON.stringify({ architecture: process.arch === 'arm64' ? 'aarch64' : 'x86_64', creation_date: 1_700_000_000, properties }),
  )
  const archive = join(folder, 'image.tar.gz')
  const { success, stderr } = Bun.spawnSync(['tar', '--numeric-owner', '-C', folder, '-czf', archive, 'metadata.yaml', 'rootfs'])
  if (!success) throw new Error(stderr.toString())
  return new Blob([await Bun.file(archive).arrayBuffer()])
}
