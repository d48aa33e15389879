/** Name of the counter that is incremented by every change to a maintenance window, so that other hubs detect the change. */
export const calendarCounter = 'maintenance'
