/** A value that changes with each start of the server, after which v0.5's page reloads itself. */
import { type App, epochSeconds } from 'archivolt'

export const startStamp = ({ clock }: Pick<App, 'clock'>): Record<string, string> => ({
  'X-Start-Timestamp': String(epochSeconds(clock)),
})
