import {
  namedHosts,
  plainHttpNote,
  saveStep,
  tokenPlaceholder,
  userName,
  type ClientConfig,
  type ConfigFile,
  type ConfigValues,
} from './client-config'

const path = '/etc/bailiwick-ddns.curl'

/** The options of curl are in a file, so that the token is not in the list of processes. */
function curlFile(values: ConfigValues): ConfigFile {
  const lines = [
    `url = "${values.hubUrl}/nic/update?hostname=${namedHosts(values).join(',')}"`,
    `user = "${userName}:${tokenPlaceholder}"`,
    'fail',
    'silent',
    'show-error',
    'max-time = 30',
  ]
  return { name: path, language: 'text', content: `${lines.join('\n')}\n` }
}

/** The hub uses the address of the connection, so each family needs a request of its own. */
const families = ({ hasIpv4, hasIpv6 }: ConfigValues): string[] => [
  ...(hasIpv4 ? ['--ipv4'] : []),
  ...(hasIpv6 ? ['--ipv6'] : []),
]

const connectionNote =
  'The hub stores the address that the request is sent from, so run this in the network that the hosts belong to.'
const saveCurlFile = saveStep('the first file', path)

export function curlWithCron(values: ConfigValues): ClientConfig {
  const lines = families(values).map(family => `*/5 * * * * root curl ${family} --config ${path} --output /dev/null`)
  return {
    client: 'curl-cron',
    title: 'curl with cron',
    files: [curlFile(values), { name: '/etc/cron.d/bailiwick-ddns', language: 'shell', content: `${lines.join('\n')}\n` }],
    steps: [
      saveCurlFile,
      'Save the second file as `/etc/cron.d/bailiwick-ddns`.',
      `Test it: \`sudo curl ${families(values)[0]} --config ${path}\``,
    ],
    notes: [connectionNote, ...plainHttpNote(values)],
  }
}

export function curlWithSystemd(values: ConfigValues): ClientConfig {
  const commands = families(values).map(family => `ExecStart=-/usr/bin/curl ${family} --config \${CREDENTIALS_DIRECTORY}/curl`)
  const service = [
    '[Unit]',
    'Description=Report the IP address to Bailiwick',
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=oneshot',
    'DynamicUser=yes',
    `LoadCredential=curl:${path}`,
    ...commands,
  ]
  const timer = [
    '[Unit]',
    'Description=Report the IP address to Bailiwick every 5 minutes',
    '',
    '[Timer]',
    'OnBootSec=1min',
    'OnUnitActiveSec=5min',
    '',
    '[Install]',
    'WantedBy=timers.target',
  ]
  const unit = (ending: string, lines: string[]): ConfigFile => ({
    name: `/etc/systemd/system/bailiwick-ddns.${ending}`,
    language: 'ini',
    content: `${lines.join('\n')}\n`,
  })
  return {
    client: 'curl-systemd',
    title: 'curl with a systemd timer',
    files: [curlFile(values), unit('service', service), unit('timer', timer)],
    steps: [
      saveCurlFile,
      'Save the other two files in `/etc/systemd/system`.',
      'Start the timer: `sudo systemctl daemon-reload && sudo systemctl enable --now bailiwick-ddns.timer`',
      'Test it: `sudo systemctl start bailiwick-ddns.service && journalctl -u bailiwick-ddns.service`',
    ],
    notes: [connectionNote, ...plainHttpNote(values)],
  }
}
