/** Returns a word, folded as in the index. */
import { parentPort } from 'node:worker_threads'
import { fold } from '@archivolt/plugin/index'

const said: string = fold('Straße')
parentPort!.postMessage(said)
