import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { succeeds } from './suite'

const packages = 'systemd,systemd-sysv,dbus,nftables,ca-certificates,iproute2,procps,curl,openssl'

/** Archive with the root file system of Debian with systemd, which `installDebianImage` builds once on a machine. */
export const debianImage: string = join(homedir(), '.cache', 'bailiwick', `debian-12-${Bun.hash(packages).toString(16)}.tar`)

/** Builds the image if it is missing, which takes a minute. @param mirror of Debian; null for the default @returns whether it exists */
export async function installDebianImage(mirror: string | null): Promise<boolean> {
  if (existsSync(debianImage)) return true
  mkdirSync(join(debianImage, '..'), { recursive: true })
  const built = `${debianImage}.${process.pid}`
  const target = ['bookworm', built, ...(mirror === null ? [] : [mirror])]
  if (!(await succeeds(['mmdebstrap', '--quiet', '--format=tar', '--variant=minbase', `--include=${packages}`, ...target])))
    return false
  renameSync(built, debianImage)
  return true
}
