import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer, type OtherServer } from './name-servers'

/** A key in the format that both servers use in their configuration. */
export interface KeyText {
  name: string
  algorithm: string
  /** In Base64. */
  secret: string
}

export interface UpdateOptions {
  key: KeyText
  /** Whether the server signs the zones itself. */
  signed?: boolean
  /** Local port that BIND sends NOTIFY messages to. */
  notifies?: number
}

/**
 * Starts BIND with zones that the key may update and transfer.
 * @param names without the trailing dot; all zones start with the same file, which uses relative names
 */
export const startUpdatableBind = (
  names: string[],
  zoneFile: string,
  { key, signed, notifies }: UpdateOptions,
): Promise<OtherServer> =>
  startServer(names[0]!, zoneFile, (folder, port) => {
    const notify =
      notifies === undefined
        ? 'notify no;'
        : `notify explicit; notify-delay 0; also-notify { 127.0.0.1 port ${notifies} key "${key.name}"; };`
    const zones = names.map(
      (name, place) => `zone "${name}" {
        type primary; file "${copied(folder, place)}"; check-names ignore;
        update-policy { grant ${key.name} zonesub ANY; }; allow-transfer { key "${key.name}"; };
        ${signed ? 'dnssec-policy default; inline-signing no;' : ''}
      };`,
    )
    const text = `key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };
    options {
      directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key"; key-directory "${folder}";
      listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
      recursion no; ${notify} dnssec-validation no; empty-zones-enable no; allow-transfer { none; };
    };
    controls { };
    ${zones.join('\n')}`
    writeFileSync(join(folder, 'named.conf'), text)
    return ['/usr/sbin/named', '-f', '-c', join(folder, 'named.conf')]
  })

/** Starts Knot with such zones. */
export const startUpdatableKnot = (names: string[], zoneFile: string, { key, signed }: UpdateOptions): Promise<OtherServer> =>
  startServer(names[0]!, zoneFile, (folder, port) => {
    const zones = names.map(
      (name, place) => `  - domain: ${name}
    file: "${copied(folder, place)}"
`,
    )
    const text = `server:
    rundir: "${folder}"
    listen: [ "127.0.0.1@${port}" ]
database:
    storage: "${folder}/db"
key:
  - id: ${key.name}
    algorithm: ${key.algorithm}
    secret: "${key.secret}"
acl:
  - id: bailiwick
    key: ${key.name}
    action: [ update, transfer ]
template:
  - id: default
    zonefile-sync: -1
    zonefile-load: whole
    acl: bailiwick
    dnssec-signing: ${signed ? 'on' : 'off'}
    semantic-checks: off
zone:
${zones.join('')}`
    writeFileSync(join(folder, 'knot.conf'), text)
    return ['/usr/sbin/knotd', '-c', join(folder, 'knot.conf')]
  })

/** Each zone has its own file. */
function copied(folder: string, place: number): string {
  const file = join(folder, `zone-${place}`)
  copyFileSync(join(folder, 'zone'), file)
  return file
}
