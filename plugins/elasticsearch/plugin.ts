/** Stores the documents on an Elasticsearch cluster, if one is configured. */
import { definePlugin, Type } from 'archivolt'

const optional = Type.Union([Type.String({ minLength: 1 }), Type.Null()])

function areNodes(urls: string): boolean {
  try {
    for (const url of urls.split(',')) {
      const { username, password } = new URL(url)
      decodeURIComponent(username + password)
    }
    return true
  } catch {
    return false
  }
}

export default definePlugin({
  name: 'elasticsearch',
  settings: {
    elasticsearchUrl: {
      env: 'AV_ELASTICSEARCH_URL',
      schema: Type.Union(
        [Type.Refine(Type.String({ pattern: '^https?://[^\\s,]+(,https?://[^\\s,]+)*$' }), areNodes), Type.Null()],
        {
          description:
            'a URL that starts with http:// or https://, or those of several nodes, separated by commas; % in a password is written %25',
        },
      ),
      default: null,
      secret: true, // it may contain a password
      meaning: 'store documents in this Elasticsearch instead of the embedded index',
    },
    elasticsearchUsername: {
      env: 'AV_ELASTICSEARCH_USERNAME',
      schema: optional,
      default: null,
      meaning: 'its user name',
    },
    elasticsearchPassword: {
      env: 'AV_ELASTICSEARCH_PASSWORD',
      schema: optional,
      default: null,
      secret: true,
      meaning: 'its password',
    },
    elasticsearchApiKey: {
      env: 'AV_ELASTICSEARCH_API_KEY',
      schema: optional,
      default: null,
      secret: true,
      meaning: 'its API key, instead of user name and password',
    },
    elasticsearchCa: {
      env: 'AV_ELASTICSEARCH_CA',
      schema: optional,
      default: null,
      isPath: true,
      meaning: 'file with the CA certificate of its own certificate',
    },
    elasticsearchRepository: {
      env: 'AV_ELASTICSEARCH_REPOSITORY',
      schema: optional,
      default: null,
      meaning: 'folder for snapshots, as the cluster sees it',
    },
  },
  indexAdapter: {
    title: 'Elasticsearch',
    chosenBy: 'elasticsearchUrl',
    // The client needs memory, so it is loaded only if it is used.
    open: async (parts) => (await import('./cluster.ts')).openCluster(parts),
  },
})

declare module 'archivolt' {
  interface Settings {
    elasticsearchUrl: string | null
    elasticsearchUsername: string | null
    elasticsearchPassword: string | null
    elasticsearchApiKey: string | null
    elasticsearchCa: string | null
    elasticsearchRepository: string | null
  }
}
