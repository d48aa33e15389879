import {
  mainHost,
  namedHosts,
  otherHostsNote,
  plainHttpNote,
  tokenPlaceholder,
  userName,
  type ClientConfig,
  type ConfigFile,
  type ConfigValues,
} from './client-config'

const field = (name: string, content: string): ConfigFile => ({ name, language: 'text', content })

/** FRITZ!OS checks the name itself, so it must have the address of the router. */
export function fritzBox(values: ConfigValues): ClientConfig {
  const { hubUrl, hasIpv4, hasIpv6 } = values
  const urls = [
    ...(hasIpv4 ? [`${hubUrl}/nic/update?hostname=<domain>&myip=<ipaddr>`] : []),
    ...(hasIpv6 ? [`${hubUrl}/nic/update?hostname=<domain>&myipv6=<ip6addr>&ip6lanprefix=<ip6lanprefix>`] : []),
  ]
  return {
    client: 'fritzbox',
    title: 'FRITZ!Box',
    files: [
      field('Update URL', urls.join(' ')),
      field('Domain name', mainHost(values)),
      field('User name', userName),
      field('Password', tokenPlaceholder),
    ],
    steps: [
      'Open `http://fritz.box`, and go to Internet > Permit Access > DynDNS.',
      'Enable “Use DynDNS”, and select the provider “User-defined”.',
      'Enter the values. Leave the words in angle brackets as they are: the FRITZ!Box replaces them.',
    ],
    notes: [
      'The domain name must be a host with the address of the FRITZ!Box itself, because the FRITZ!Box checks it.',
      ...(hasIpv6
        ? ['The FRITZ!Box also reports its IPv6 prefix, for hosts whose record value is an address in the IPv6 prefix.']
        : []),
      ...otherHostsNote(values),
      ...plainHttpNote(values),
    ],
  }
}

export function uniFi(values: ConfigValues): ClientConfig {
  return {
    client: 'unifi',
    title: 'UniFi',
    files: [
      field('Service', 'custom'),
      field('Hostname', mainHost(values)),
      field('Username', userName),
      field('Password', tokenPlaceholder),
      field('Server', `${values.server}/nic/update?hostname=%h&myip=%i`),
    ],
    steps: [
      'In UniFi Network, go to Settings > Internet, and select your internet connection.',
      'Under Dynamic DNS, create an entry with these values.',
    ],
    notes: [
      ...(values.isHttps ? [] : ['UniFi gateways only send reports over HTTPS. Set up HTTPS for the hub first.']),
      ...otherHostsNote(values),
    ],
  }
}

export function opnSense(values: ConfigValues): ClientConfig {
  return {
    client: 'opnsense',
    title: 'OPNsense',
    files: [
      field('Service', 'Custom'),
      field('Protocol', 'DynDns2'),
      field('Server', values.server),
      field('Username', userName),
      field('Password', tokenPlaceholder),
      field('Hostname(s)', namedHosts(values).join(',')),
    ],
    steps: [
      'Install the plugin `os-ddclient`: System > Firmware > Plugins.',
      'Go to Services > Dynamic DNS > Settings, and add an account with these values.',
      `Set “Check ip method” to “Interface [${values.hasIpv4 ? 'IPv4' : 'IPv6'}]”, select the WAN interface, and ${values.isHttps ? 'enable' : 'disable'} “Force SSL”.`,
    ],
    notes: [
      '“Interface [IPv4]” and “Interface [IPv6]” require the backend “native”, which is the default of new installations.',
      ...(values.hasIpv4 && values.hasIpv6
        ? ['To report IPv6 too, add a second account with the same values, but “Check ip method” set to “Interface [IPv6]”.']
        : []),
      ...plainHttpNote(values),
    ],
  }
}

export function pfSense(values: ConfigValues): ClientConfig {
  const url = `${values.hubUrl}/nic/update?hostname=${namedHosts(values).join(',')}&myip=%IP%`
  return {
    client: 'pfsense',
    title: 'pfSense',
    files: [
      field('Service Type', values.hasIpv4 ? 'Custom' : 'Custom (v6)'),
      field('Username', userName),
      field('Password', tokenPlaceholder),
      field('Update URL', url),
      field('Result Match', 'good %IP%|nochg %IP%'),
    ],
    steps: [
      'Go to Services > Dynamic DNS, and select Add.',
      'Under “Interface to monitor” and “Interface to send update from”, select the WAN interface.',
      'Enter these values.',
    ],
    notes: [
      ...(values.hasIpv4 && values.hasIpv6
        ? ['To report IPv6 too, add a second entry with the service type “Custom (v6)”.']
        : []),
      ...plainHttpNote(values),
    ],
  }
}

export function openWrt(values: ConfigValues): ClientConfig {
  const name = mainHost(values)
  const scheme = values.isHttps ? 'https' : 'http'
  const section = (family: 'ipv4' | 'ipv6') => [
    `config service 'bailiwick_${family}'`,
    "\toption enabled '1'",
    "\toption service_name '-'",
    `\toption update_url '${scheme}://[USERNAME]:[PASSWORD]@${values.server}/nic/update?hostname=[DOMAIN]&myip=[IP]'`,
    `\toption lookup_host '${name}'`,
    `\toption domain '${name}'`,
    `\toption username '${userName}'`,
    `\toption password '${tokenPlaceholder}'`,
    `\toption use_ipv6 '${family === 'ipv6' ? 1 : 0}'`,
    ...(values.isHttps ? ["\toption use_https '1'", "\toption cacert '/etc/ssl/certs'"] : []),
    "\toption ip_source 'network'",
    `\toption ip_network '${family === 'ipv6' ? 'wan6' : 'wan'}'`,
    `\toption interface '${family === 'ipv6' ? 'wan6' : 'wan'}'`,
    "\toption check_interval '5'",
    "\toption check_unit 'minutes'",
  ]
  const sections = [...(values.hasIpv4 ? [section('ipv4')] : []), ...(values.hasIpv6 ? [section('ipv6')] : [])]
  return {
    client: 'openwrt',
    title: 'OpenWrt',
    files: [
      {
        name: '/etc/config/ddns',
        language: 'text',
        content: `${sections.map(lines => lines.join('\n')).join('\n\n')}\n`,
      },
    ],
    steps: [
      `Install the packages: \`opkg update && opkg install ddns-scripts${values.isHttps ? ' curl ca-certificates' : ''}\``,
      'Append the text to `/etc/config/ddns`.',
      'Restart the service: `/etc/init.d/ddns restart`',
    ],
    notes: [...otherHostsNote(values), ...plainHttpNote(values)],
  }
}

/** RouterOS sends its own DNS updates with HMAC-MD5 only, so a script reports the address. */
export function routerOs(values: ConfigValues): ClientConfig {
  const url = `${values.hubUrl}/nic/update?hostname=${namedHosts(values).join(',')}`
  const fetch = [
    '/tool fetch',
    `url="${url.replaceAll('?', '\\?')}"`,
    `http-header-field="Authorization: Bearer ${tokenPlaceholder}"`,
    ...(values.isHttps ? ['check-certificate=yes'] : []),
    'output=none',
  ].join(' ')
  const lines = [
    `/system script add name=bailiwick-ddns policy=read,write,test source={ ${fetch} }`,
    '/system scheduler add name=bailiwick-ddns interval=5m on-event="/system script run bailiwick-ddns"',
  ]
  return {
    client: 'routeros',
    title: 'MikroTik RouterOS',
    files: [{ name: 'Terminal', language: 'shell', content: `${lines.join('\n')}\n` }],
    steps: [
      'Open a terminal on the router, and paste both commands.',
      'Test it: `/system script run bailiwick-ddns`',
      ...(values.isHttps
        ? ['If the certificate of the hub is not trusted, import its root certificate under System > Certificates.']
        : []),
    ],
    notes: ['The hub stores the address that the router connects from.', ...plainHttpNote(values)],
  }
}

export function synology(values: ConfigValues): ClientConfig {
  return {
    client: 'synology',
    title: 'Synology DSM',
    files: [
      field(
        'Query URL',
        `${values.hubUrl}/nic/update?hostname=__HOSTNAME__&myip=__MYIP__&username=__USERNAME__&password=__PASSWORD__`,
      ),
      field('Hostname', mainHost(values)),
      field('Username/Email', userName),
      field('Password/Key', tokenPlaceholder),
    ],
    steps: [
      'Go to Control Panel > External Access > DDNS.',
      'Select Customize Provider, and enter the query URL. Leave the words between underscores as they are: DSM replaces them.',
      'Select Add, select the new provider, and enter the other values.',
    ],
    notes: [
      'DSM sends the token in the URL, where it can end up in the log of a proxy.',
      ...otherHostsNote(values),
      ...plainHttpNote(values),
    ],
  }
}
