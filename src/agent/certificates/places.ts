import type { certificateFileKinds } from '../../wire/agent-limits'
import type { Root } from '../sample/root'

export type FileKind = (typeof certificateFileKinds)[number]

/** Files with certificates. */
export interface Place {
  kind: FileKind
  /** Pattern of their paths, as for `matchingPaths`. */
  pattern: string
  /** Folder in which their links may lead. */
  folder: string
  /** Where the private key of a file is, unless the file contains it. @param path without a slash at the start */
  keyOf?: (path: string) => string
  /** Names that are left out. */
  except?: RegExp
}

const sibling = (name: string) => (path: string) => path.replace(/[^/]+$/, name)
const withEnding = (ending: string) => (path: string) => path.replace(/\.[^./]+$/, ending)

/** Where programs store certificates, apart from home folders. */
const systemPlaces: readonly Place[] = [
  ...['etc/letsencrypt', 'usr/local/etc/letsencrypt'].map((folder): Place => ({
    kind: 'certbot',
    folder,
    pattern: `${folder}/live/*/fullchain.pem`,
    keyOf: sibling('privkey.pem'),
  })),
  ...['var/lib/caddy/.local/share/caddy', 'data/caddy'].map(caddyIn),
  ...['etc/traefik', 'var/lib/traefik', 'opt/traefik', 'letsencrypt'].map((folder): Place => ({
    kind: 'traefik',
    folder,
    pattern: `${folder}/acme*.json`,
  })),
  ...['etc/lego', 'var/lib/lego'].map(legoIn),
  ...['var/lib/dehydrated', 'etc/dehydrated'].map((folder): Place => ({
    kind: 'dehydrated',
    folder,
    pattern: `${folder}/certs/*/fullchain.pem`,
    keyOf: sibling('privkey.pem'),
  })),
  ...['data', 'opt/nginx-proxy-manager/data'].flatMap((folder): Place[] => [
    { kind: 'nginx_proxy_manager', folder, pattern: `${folder}/custom_ssl/*/fullchain.pem`, keyOf: sibling('privkey.pem') },
    { kind: 'nginx_proxy_manager', folder, pattern: `${folder}/letsencrypt/live/*/fullchain.pem`, keyOf: sibling('privkey.pem') },
  ]),
  ...['certs', 'ssl'].map((name): Place => ({ kind: 'haproxy', folder: 'etc/haproxy', pattern: `etc/haproxy/${name}/*.pem` })),
  ...['pve-ssl', 'pveproxy-ssl'].map((name): Place => ({
    kind: 'proxmox',
    folder: 'etc/pve',
    pattern: `etc/pve/local/${name}.pem`,
    keyOf: withEnding('.key'),
  })),
  ...['etc/kubernetes/pki', 'etc/kubernetes/pki/etcd', 'var/lib/rancher/k3s/server/tls'].map((folder): Place => ({
    kind: 'kubernetes',
    folder,
    pattern: `${folder}/*.crt`,
    keyOf: withEnding('.key'),
  })),
  { kind: 'kubernetes', folder: 'var/lib/kubelet/pki', pattern: 'var/lib/kubelet/pki/kubelet*.pem' },
  ...['cert', 'crt'].map((ending): Place => ({
    ...{ kind: 'cockpit', folder: 'etc/cockpit', pattern: `etc/cockpit/ws-certs.d/*.${ending}` },
    keyOf: withEnding('.key'),
  })),
  { kind: 'docker', folder: 'etc/docker', pattern: 'etc/docker/server-cert.pem', keyOf: sibling('server-key.pem') },
  { kind: 'docker', folder: 'etc/docker', pattern: 'etc/docker/certs.d/*/*.cert', keyOf: withEnding('.key') },
  {
    ...{ kind: 'synology', folder: 'usr/syno/etc/certificate' },
    ...{ pattern: 'usr/syno/etc/certificate/_archive/*/fullchain.pem', keyOf: sibling('privkey.pem') },
  },
]

function caddyIn(folder: string): Place {
  return { kind: 'caddy', folder, pattern: `${folder}/certificates/*/*/*.crt`, keyOf: withEnding('.key') }
}

function legoIn(folder: string): Place {
  const pattern = `${folder}/certificates/*.crt`
  return { kind: 'lego', folder, pattern, keyOf: withEnding('.key'), except: /\.issuer\.crt$/ }
}

const maxHomes = 100

/** Where programs store certificates on a server. */
export function knownPlaces(root: Root): Place[] {
  const homes = (root.text('etc/passwd') ?? '')
    .split('\n')
    .map(line => line.split(':')[5]?.replace(/^\/+|\/+$/g, '') ?? '')
    .filter(home => /^(root$|home\/|var\/lib\/|srv\/|opt\/)/.test(home))
  return [
    ...systemPlaces,
    ...[...new Set(['root', ...homes])].slice(0, maxHomes).flatMap((home): Place[] => [
      {
        ...{ kind: 'acme_sh', folder: `${home}/.acme.sh`, pattern: `${home}/.acme.sh/*/fullchain.cer` },
        // The folder has the name of the domain, with `_ecc` for other types of keys than RSA.
        keyOf: path => path.replace(/([^/]+?)(_ecc)?\/[^/]+$/, (_, domain, ecc = '') => `${domain}${ecc}/${domain}.key`),
      },
      caddyIn(`${home}/.local/share/caddy`),
      legoIn(`${home}/.lego`),
    ]),
  ]
}
