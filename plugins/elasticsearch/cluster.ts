/** Opens the index on the configured cluster: its expected content, losses, and snapshots. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { StartError, say, snapshotName } from 'archivolt'
import { type AdapterParts, type OpenedAdapter, systemClock } from 'archivolt/index'
import { connectElastic } from './connection.ts'
import { openElasticIndex } from './open.ts'
import { lastingNames } from './repository.ts'

export async function openCluster({
  settings,
  definitions,
  log,
  holdings,
  onGarbled,
  signal,
}: AdapterParts): Promise<OpenedAdapter> {
  const { prefix, dataDir, elasticsearchUrl: url, elasticsearchRepository: repository } = settings
  if (url === null) throw new StartError('AV_ELASTICSEARCH_URL is not set')
  // The server uses its own time, which tests cannot control.
  const clock = systemClock
  const connection = connectElastic({
    url,
    username: settings.elasticsearchUsername,
    password: settings.elasticsearchPassword,
    apiKey: settings.elasticsearchApiKey,
    ca: settings.elasticsearchCa,
    ...{ names: lastingNames(prefix), log, clock },
  })
  try {
    const index = await openElasticIndex({
      ...{ connection, definitions, log, clock, prefix, signal, repository, onGarbled },
      // Only one process at a time uses a data folder, so this one completes the work of an earlier one on the cluster.
      owner: createHash('sha256').update(`${hostname()} ${dataDir}`).digest('hex'),
      async onMissing(collections) {
        const lost = collections.filter((name) => holdings.opened?.includes(name))
        if (lost.length > 0)
          await holdings.noteLost(
            say`Elasticsearch no longer has the index ${{ names: lost.map((name) => `${prefix}_${name}`).join(', ') }}`,
          )
      },
      async beforeRebuild(snapshotTo) {
        if (repository === null)
          return log.info('no snapshot is taken before the rebuild, as AV_ELASTICSEARCH_REPOSITORY is not set')
        await snapshotTo(snapshotName(prefix, 'upgrade')).catch((error: unknown) =>
          log.error({ err: error }, 'no snapshot could be taken before the rebuild'),
        )
      },
    })
    return { index, openSnapshots: (guarded) => index.openSnapshots(guarded) }
  } catch (error) {
    await connection.close()
    throw error
  }
}
