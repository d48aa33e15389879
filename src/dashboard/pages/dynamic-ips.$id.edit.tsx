import type { DynamicIpView } from '../../features/dynamic-ips/shapes'
import { EditPage } from '../parts/edit-page'
import { resourcePage } from '../parts/resource-page'
import { sourceBody, SourceFields, sourceValues } from './dynamic-ips/source-fields'

/** Edits a source. Only changed fields are sent. */
export default resourcePage<DynamicIpView>({ path: '/dynamic-ips', parent: '/dynamic-ips' }, ({ resource: source }) => (
  <EditPage
    resource={source}
    to={`/dynamic-ips/${source.id}`}
    path={`/dynamic-ips/${source.id}`}
    invalidates={['/dynamic-ips', '/dns/zones', '/dns/records', '/overview']}
    defaults={sourceValues(null)}
    valuesOf={opened => sourceValues(opened)}
    bodyOf={sourceBody}
  >
    {() => <SourceFields />}
  </EditPage>
))
