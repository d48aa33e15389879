// What a new project at the double of Hetzner Cloud can order. Prices are like those of Hetzner, with 19 % VAT.

export interface HetznerLocation {
  id: number
  name: string
  description: string
  country: string
  city: string
  latitude: number
  longitude: number
  network_zone: string
}

export const locations = (): HetznerLocation[] => [
  ...[location(1, 'fsn1', 'Falkenstein DC Park 1', 'DE', 'Falkenstein', 50.47612, 12.370071, 'eu-central')],
  ...[location(2, 'nbg1', 'Nuremberg DC Park 1', 'DE', 'Nuremberg', 49.452102, 11.076665, 'eu-central')],
  ...[location(3, 'hel1', 'Helsinki DC Park 1', 'FI', 'Helsinki', 60.169855, 24.938379, 'eu-central')],
  ...[location(4, 'ash', 'Ashburn, VA', 'US', 'Ashburn, VA', 39.045821, -77.487073, 'us-east')],
]

const location = (
  id: number,
  name: string,
  description: string,
  country: string,
  city: string,
  latitude: number,
  longitude: number,
  network_zone: string,
): HetznerLocation => ({ id, name, description, country, city, latitude, longitude, network_zone })

export interface Amount {
  net: string
  gross: string
}

/** An amount with and without VAT. @param net in cents */
export const amount = (net: number): Amount => ({
  net: `${(net / 100).toFixed(2)}00000000`,
  gross: `${((net * 119) / 10_000).toFixed(4)}000000000000`,
})

export interface HetznerServerType {
  id: number
  name: string
  description: string
  category: string
  cores: number
  memory: number
  disk: number
  cpu_type: 'shared' | 'dedicated'
  storage_type: 'local' | 'network'
  architecture: 'x86' | 'arm'
  /** Where it is offered. */
  locations: {
    name: string
    price_monthly: Amount
    /** Whether it is in stock. */
    available: boolean
    deprecation: { announced: string; unavailable_after: string } | null
  }[]
}

const europe = ['fsn1', 'nbg1', 'hel1']

export const serverTypes = (): HetznerServerType[] => [
  type(104, 'cx22', 'Shared vCPU', 2, 4, 40, 379),
  type(105, 'cx32', 'Shared vCPU', 4, 8, 80, 680),
  type(106, 'cx42', 'Shared vCPU', 8, 16, 160, 1640),
  { ...type(45, 'cax11', 'Shared vCPU', 2, 4, 40, 379), architecture: 'arm' },
  { ...type(97, 'ccx13', 'Dedicated vCPU', 2, 8, 80, 1249, [...europe, 'ash']), cpu_type: 'dedicated' },
  deprecated(
    type(22, 'cpx11', 'Shared vCPU', 2, 2, 40, 435, [...europe, 'ash']),
    '2026-10-01T00:00:00+00:00',
    '2099-01-01T00:00:00+00:00',
  ),
  deprecated(type(1, 'cx11', 'Shared vCPU', 1, 2, 20, 329), '2024-06-06T00:00:00+00:00', '2024-09-06T00:00:00+00:00'),
]

const type = (
  id: number,
  name: string,
  category: string,
  cores: number,
  memory: number,
  disk: number,
  net: number,
  places = europe,
): HetznerServerType => ({
  ...{ id, name, description: name.toUpperCase(), category, cores, memory, disk },
  cpu_type: 'shared',
  storage_type: 'local',
  architecture: 'x86',
  // Prices differ between locations.
  locations: places.map(place => ({
    name: place,
    price_monthly: amount(place === 'ash' ? net + 100 : net),
    available: true,
    deprecation: null,
  })),
})

const deprecated = (one: HetznerServerType, announced: string, unavailable_after: string): HetznerServerType => ({
  ...one,
  locations: one.locations.map(place => ({ ...place, deprecation: { announced, unavailable_after } })),
})

export interface HetznerImage {
  id: number
  type: 'system' | 'app' | 'snapshot' | 'backup'
  status: 'available' | 'creating' | 'unavailable'
  name: string | null
  description: string
  image_size: number | null
  disk_size: number
  created: string
  created_from: { id: number; name: string } | null
  bound_to: number | null
  os_flavor: string
  os_version: string | null
  rapid_deploy: boolean
  protection: { delete: boolean }
  deprecated: string | null
  deleted: null
  labels: Record<string, string>
  architecture: 'x86' | 'arm'
}

export const images = (): HetznerImage[] => [
  system(114690387, 'debian-12', 'Debian 12', 'debian', '12'),
  { ...system(114690389, 'debian-12', 'Debian 12', 'debian', '12'), architecture: 'arm' },
  system(310557660, 'debian-13', 'Debian 13', 'debian', '13'),
  system(161547269, 'ubuntu-24.04', 'Ubuntu 24.04', 'ubuntu', '24.04'),
  { ...system(161547270, 'ubuntu-24.04', 'Ubuntu 24.04', 'ubuntu', '24.04'), architecture: 'arm' },
  system(309651002, 'alma-10', 'AlmaLinux 10', 'alma', '10'),
  { ...system(45557056, 'debian-11', 'Debian 11', 'debian', '11'), deprecated: '2026-08-31T00:00:00+00:00' },
  { ...system(40093247, 'docker-ce', 'Docker CE', 'ubuntu', '24.04'), type: 'app' },
]

const system = (id: number, name: string, description: string, os_flavor: string, os_version: string): HetznerImage => ({
  ...{ id, type: 'system', status: 'available', name, description, image_size: null, disk_size: 5 },
  ...{ created: '2023-06-13T06:00:00+00:00', created_from: null, bound_to: null, os_flavor, os_version, rapid_deploy: true },
  ...{ protection: { delete: false }, deprecated: null, deleted: null, labels: {}, architecture: 'x86' },
})

/** Prices that don't belong to a server type. */
export const extraPrices = () => ({
  ipv4: amount(50),
  volumePerGb: amount(4),
  imagePerGb: { net: '0.0110000000', gross: '0.0130900000000000' },
  backupPercentage: '20.00',
})
