/** Says a word, folded as the index does. */
import { parentPort } from 'node:worker_threads'
import { fold } from '@archivolt/plugin/index'

const said: string = fold('Straße')
parentPort!.postMessage(said)
