import {
  namedHosts,
  plainHttpNote,
  saveStep,
  tokenPlaceholder,
  userName,
  type ClientConfig,
  type ConfigValues,
} from './client-config'

const path = '/etc/inadyn.conf'

/** Each setting needs a line of its own, and each family a section, because Inadyn reports one address for each. */
export function inadyn(values: ConfigValues): ClientConfig {
  const { server, isHttps, hasIpv4, hasIpv6, hubUrl } = values
  const hosts = namedHosts(values)
    .map(name => `"${name}"`)
    .join(', ')
  const section = (name: string, lookup: string[]) => [
    `custom ${name} {`,
    `    username = "${userName}"`,
    `    password = "${tokenPlaceholder}"`,
    `    ssl = ${isHttps}`,
    `    ddns-server = "${server}"`,
    '    ddns-path = "/nic/update?hostname=%h&myip=%i"',
    ...lookup.map(line => `    ${line}`),
    `    hostname = { ${hosts} }`,
    '}',
  ]
  const byServer = [`checkip-server = "${server}"`, 'checkip-path = "/checkip"', `checkip-ssl = ${isHttps}`]
  const byCurl = (family: 4 | 6) => [`checkip-command = "/usr/bin/curl -${family} --fail --silent --max-time 30 ${hubUrl}/myip"`]
  const lines = [
    'period = 300',
    ...(hasIpv6 ? ['allow-ipv6 = true'] : []),
    ...(hasIpv4 ? section('bailiwick-ipv4', hasIpv6 ? byCurl(4) : byServer) : []),
    ...(hasIpv6 ? section('bailiwick-ipv6', byCurl(6)) : []),
  ]
  return {
    client: 'inadyn',
    title: 'Inadyn',
    files: [{ name: path, language: 'text', content: `${lines.join('\n')}\n` }],
    steps: [
      ...(hasIpv6 ? ['Install curl, which determines the address of each family.'] : []),
      saveStep('the file', path),
      'Check the file: `sudo inadyn --check-config`',
      'Restart Inadyn: `sudo systemctl restart inadyn`',
    ],
    notes: plainHttpNote(values),
  }
}
