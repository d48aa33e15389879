import {
  namedHosts,
  plainHttpNote,
  saveStep,
  tokenPlaceholder,
  userName,
  type ClientConfig,
  type ConfigValues,
} from './client-config'

const path = '/etc/ddclient.conf'
const steps = [
  saveStep('the file', path),
  'Restart ddclient: `sudo systemctl restart ddclient`',
  'Check the log: `journalctl -u ddclient`',
]

const notesOf = (values: ConfigValues): string[] => [
  ...(/^[^.]+$/.test(values.server)
    ? ['ddclient only accepts a server name that contains a dot. Set the URL of the hub to such a name.']
    : []),
  ...plainHttpNote(values),
]

const common = ({ server, isHttps }: ConfigValues, ...lookup: string[]) => [
  'daemon=300',
  `ssl=${isHttps ? 'yes' : 'no'}`,
  ...lookup,
  'protocol=dyndns2',
  `server=${server}`,
  'script=/nic/update',
  `login=${userName}`,
  `password='${tokenPlaceholder}'`,
]

/** ddclient 3, which reports one address, of the family that it uses to reach the hub. */
export function ddclient3(values: ConfigValues): ClientConfig {
  const lines = [...common(values, `use=web, web=${values.hubUrl}/checkip`), namedHosts(values).join(',')]
  return {
    client: 'ddclient3',
    title: 'ddclient 3',
    files: [{ name: path, language: 'ini', content: `${lines.join('\n')}\n` }],
    steps,
    notes: [
      ...(values.hasIpv4 && values.hasIpv6
        ? ['ddclient 3 reports only one address. To report IPv4 and IPv6, use ddclient 4.']
        : []),
      ...notesOf(values),
    ],
  }
}

export function ddclient4(values: ConfigValues): ClientConfig {
  const lookup = `${values.hubUrl}/checkip`
  const lines = [
    ...common(
      values,
      ...(values.hasIpv4 ? [`usev4=webv4, webv4=${lookup}`] : []),
      ...(values.hasIpv6 ? [`usev6=webv6, webv6=${lookup}`] : []),
    ),
    namedHosts(values).join(','),
  ]
  return {
    client: 'ddclient4',
    title: 'ddclient 4',
    files: [{ name: path, language: 'ini', content: `${lines.join('\n')}\n` }],
    steps,
    notes: notesOf(values),
  }
}
