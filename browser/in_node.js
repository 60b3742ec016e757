// The page's planner without a page: node browser/in_node.js build-browser/planner.js PLAN FOLDER [FILE...]
// writes what the page would show; FILE...: those beside the plan. Exit status and words are the planner's.
'use strict';

const fs = require('fs'), path = require('path');

async function main([program, plan, folder, ...files]) {
  const planner = await require(path.resolve(program))({print: () => {}, printErr: line => console.error(line)});
  const {FS} = planner;
  FS.mkdir('/plan');
  for (const file of [plan, ...files]) FS.writeFile(`/plan/${path.basename(file)}`, fs.readFileSync(file));
  const status = planner.callMain([`/plan/${path.basename(plan)}`, '/plan/answer']);
  if (status === 0) {
    fs.mkdirSync(folder, {recursive: true});
    for (const name of FS.readdir('/plan/answer'))
      if (!name.startsWith('.')) fs.writeFileSync(path.join(folder, name), FS.readFile(`/plan/answer/${name}`));
  }
  process.exit(status);
}

main(process.argv.slice(2));
