#!/usr/bin/env node
/** `npx archivolt`: runs the server that tests use, to try out a plugin in it, and its commands. */
import './server/main.js'
