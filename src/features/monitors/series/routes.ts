import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import { readSeries } from './points'
import { readRecent } from './recent'
import { listResults } from './results'
import {
  MonitorRecentList,
  MonitorResultList,
  MonitorSeries,
  MonitorTransitionList,
  MonitorUptime,
  RecentQuery,
  ResultsQuery,
  SeriesQuery,
  UptimeQuery,
} from './shapes'
import { listTransitions, transitionListing } from './transitions'
import { readUptime } from './uptime-report'

const guard = 'monitoring.read'

export const monitorSeriesRoutes = area('monitor-series', 'Monitors', [
  route({
    method: 'GET',
    path: '/v1/monitors/recent',
    guard,
    operationId: 'listRecentResults',
    summary: 'List recent check results of monitors',
    description:
      'Returns the last checks, 30 by default, of up to 100 monitors and their uptime over the last 24 hours, for use in lists. Includes only ' +
      'checks of the last 24 hours.',
    query: RecentQuery,
    response: MonitorRecentList,
    run: (ctx, { query }) => readRecent(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/results',
    guard,
    operationId: 'listMonitorResults',
    summary: 'List check results of a monitor',
    description:
      'Lists the result of each check of a monitor, newest first. Results are kept for the number of days that the plan allows (`monitor_results_days`).',
    query: ResultsQuery,
    response: MonitorResultList,
    run: (ctx, { params, query }) => listResults(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/series',
    guard,
    operationId: 'getMonitorSeries',
    summary: 'Get the time series of a monitor',
    description:
      'Returns data points for a chart: the duration of checks or of one phase, with mean and percentiles, or the availability. ' +
      'Hourly data is kept for 100 days, daily data for as long as the monitor exists.',
    query: SeriesQuery,
    response: MonitorSeries,
    run: (ctx, { params, query }) => readSeries(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/uptime',
    guard,
    operationId: 'getMonitorUptime',
    summary: 'Get the uptime of a monitor',
    description:
      'Returns the uptime over a window, by day and month, with outages and the error budget of an objective. Uptime is calculated from ' +
      'the time spent in each status, not from the number of checks. Maintenance, paused time, and time without checks are reported but ' +
      'not counted.',
    query: UptimeQuery,
    response: MonitorUptime,
    run: (ctx, { params, query }) => readUptime(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/transitions',
    guard,
    operationId: 'listMonitorTransitions',
    summary: 'List status changes of a monitor',
    description: 'Lists the status changes of a monitor, newest first. They are kept for as long as the monitor exists.',
    query: listQuery(transitionListing),
    response: MonitorTransitionList,
    run: (ctx, { params, query }) => listTransitions(ctx, params.id!, query),
  }),
])
