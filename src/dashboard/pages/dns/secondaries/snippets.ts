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
  /** Where it belongs. */
  file: string
  text(setup: Setup): string
}

/** How name servers are told to be a secondary of one zone of this hub. Its secret is not known here any more. */
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
  - id: told-by-bailiwick
    key: ${key}
    action: notify
zone:
  - domain: ${zone}
    master: bailiwick
    acl: told-by-bailiwick
`,
  },
  {
    // https://doc.powerdns.com/authoritative/tsig.html, «Provisioning signed notification and AXFR requests»
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
