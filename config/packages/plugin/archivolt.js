#!/usr/bin/env node
/** `npx archivolt`: the server that tests run, to look at a plugin in it, and its commands. */
import './server/main.js'
