export * from './cli.mjs';
export * from './contract.mjs';
export * from './http.mjs';
export * from './processes.mjs';
export * from './server.mjs';
export * from './sse.mjs';
export * from './wait.mjs';
export * from './demo.mjs';
