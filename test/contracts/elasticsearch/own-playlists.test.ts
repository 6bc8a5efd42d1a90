/** Playlists of accounts, with shared ones in Elasticsearch. */
import { describe } from 'node:test'
import { ownPlaylists } from '../../plugins/playlist/own-suite.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'

const { index, skip } = INDEXES.find((one) => one.index === 'Elasticsearch')!

describe(`on ${index}`, { skip }, () => ownPlaylists((scope) => indexSettings(scope, index)))
