import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer, type OtherServer } from './name-servers'

/** A key as both programs have it in their configuration. */
export interface KeyText {
  name: string
  algorithm: string
  /** In base64. */
  secret: string
}

export interface UpdateOptions {
  key: KeyText
  /** Whether the server signs the zone itself. */
  signed?: boolean
}

/** Starts BIND with a zone that the key may change and transfer. @param name without the dot at its end */
export const startUpdatableBind = (name: string, zoneFile: string, { key, signed }: UpdateOptions): Promise<OtherServer> =>
  startServer(name, zoneFile, (folder, port) => {
    const text = `key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };
    options {
      directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key"; key-directory "${folder}";
      listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
      recursion no; notify no; dnssec-validation no; empty-zones-enable no; allow-transfer { none; };
    };
    controls { };
    zone "${name}" {
      type primary; file "${folder}/zone"; check-names ignore;
      update-policy { grant ${key.name} zonesub ANY; }; allow-transfer { key "${key.name}"; };
      ${signed ? 'dnssec-policy default; inline-signing no;' : ''}
    };`
    writeFileSync(join(folder, 'named.conf'), text)
    return ['/usr/sbin/named', '-f', '-c', join(folder, 'named.conf')]
  })

/** Starts Knot with such a zone. */
export const startUpdatableKnot = (name: string, zoneFile: string, { key, signed }: UpdateOptions): Promise<OtherServer> =>
  startServer(name, zoneFile, (folder, port) => {
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
zone:
  - domain: ${name}
    storage: "${folder}"
    file: zone
    zonefile-sync: -1
    zonefile-load: whole
    acl: bailiwick
    dnssec-signing: ${signed ? 'on' : 'off'}
    semantic-checks: off
`
    writeFileSync(join(folder, 'knot.conf'), text)
    return ['/usr/sbin/knotd', '-c', join(folder, 'knot.conf')]
  })
