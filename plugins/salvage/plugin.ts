/** Salvages the readable content of a damaged ledger, if there is no good copy of it. */
import { definePlugin } from 'archivolt'
import { salvage } from './salvage.ts'

export default definePlugin({ name: 'salvage', salvage })
