import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
import { Zone, ZoneInput, ZoneList, ZonePatch } from './shapes'
import { createZone, deleteZone, getZone, listZones, updateZone, zoneListing } from './zones'

export const dnsZoneRoutes = area('dns-zones', 'DNS', [
  ...crud({
    type: 'zone',
    response: Zone,
    list: {
      description: 'Lists the DNS zones of the workspace.',
      listing: zoneListing,
      response: ZoneList,
      run: listZones,
    },
    create: {
      description:
        'Creates a zone with an SOA and the NS records in `nameservers`. By default, the built-in name server serves it. If a default name ' +
        'server is inside a zone that the built-in name server serves, its address record (glue) is added too. It has the IP address of the hub’s ' +
        'base URL, or 127.0.0.1 if that URL has a hostname; change it before you delegate the zone. ' +
        'Zone names are unique across the installation, and a zone can’t be below a zone of another workspace: both return 409 `already_exists`.',
      body: ZoneInput,
      problems: ['plan_limit_reached', 'already_exists'],
      run: createZone,
    },
    get: {
      description: 'Returns a zone with its serial, SOA fields, and sync status.',
      run: getZone,
    },
    update: {
      description:
        'Updates the given fields (JSON merge patch, RFC 7396). The name can’t be changed. A `paused` zone keeps its records, but is ' +
        'neither served nor synced. If the zone has sync targets, they are read again and synced with the new settings.',
      body: ZonePatch,
      run: updateZone,
    },
    delete: {
      description:
        'Deletes a zone with all its records and its history. This can’t be undone. The built-in name server stops answering for it; copies at ' +
        'providers are kept.',
      run: deleteZone,
    },
  }),
])
