/** Playlists of accounts, with shared ones in Elasticsearch. */
import { describe } from 'node:test'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { ownPlaylists } from './own-suite.ts'

const { index, skip } = INDEXES.find((one) => one.index === 'Elasticsearch')!

describe(`on ${index}`, { skip }, () => ownPlaylists((scope) => indexSettings(scope, index)))
