interface Setup {
  zone: string
  host: string
  port: number
  /** Name and algorithm of the TSIG key. */
  key: string
  algorithm: string
}

interface Snippet {
  name: string
  label: string
  /** File that it belongs to. */
  file: string
  text(setup: Setup): string
}

/** Configurations of a secondary for one zone of this hub. The secret is only known when the key is created. */
export const snippets: readonly Snippet[] = [
  {
    name: 'bind',
    label: 'BIND 9',
    file: 'named.conf',
    text: ({ zone, host, port, key, algorithm }) => `key "${key}" { algorithm ${algorithm}; secret "SECRET"; };
zone "${zone}" {
  type secondary;
  file "${zone}";
  primaries { ${host} port ${port} key "${key}"; };
  allow-notify { key "${key}"; };
};
`,
  },
  {
    name: 'knot',
    label: 'Knot DNS 3',
    file: 'knot.conf',
    text: ({ zone, host, port, key, algorithm }) => `key:
  - id: ${key}
    algorithm: ${algorithm}
    secret: SECRET
remote:
  - id: bailiwick
    address: ${host}@${port}
    key: ${key}
acl:
  - id: notify-from-bailiwick
    key: ${key}
    action: notify
zone:
  - domain: ${zone}
    master: bailiwick
    acl: notify-from-bailiwick
`,
  },
  {
    // https://doc.powerdns.com/authoritative/tsig.html, “Provisioning signed notification and AXFR requests”
    name: 'powerdns',
    label: 'PowerDNS',
    file: 'shell, with secondary=yes in pdns.conf',
    text: ({ zone, host, port, key, algorithm }) => `pdnsutil import-tsig-key ${key} ${algorithm} SECRET
pdnsutil create-secondary-zone ${zone} ${host.includes(':') ? `[${host}]` : host}:${port}
pdnsutil activate-tsig-key ${zone} ${key} secondary
`,
  },
  {
    // nsd.conf(5): allow-notify and request-xfr of a zone, key clause
    name: 'nsd',
    label: 'NSD 4',
    file: 'nsd.conf',
    text: ({ zone, host, port, key, algorithm }) => `key:
  name: "${key}"
  algorithm: ${algorithm}
  secret: "SECRET"
zone:
  name: "${zone}"
  zonefile: "${zone}.zone"
  allow-notify: ${host} ${key}
  request-xfr: AXFR ${host}@${port} ${key}
`,
  },
]
